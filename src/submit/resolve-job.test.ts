import { describe, expect, it } from "vitest";
import { resolveConfig } from "../config/resolve.ts";
import type { JobInput } from "./job-schema.ts";
import { parseJob, resolveJob } from "./resolve-job.ts";

describe("a job whose pages are parsed elsewhere", () => {
  it("is refused where no page could be passed on: a spider's stay with the browser that shows them", () => {
    expect(() => resolved({ parse: "queue", render: "always", spider: "./shop.ts" })).toThrow(
      /parse: "queue" cannot be had with render: "always" in a spider: .*leave parse out, or take render: "auto"/,
    );
  });

  it.each([{ render: "auto" as const, spider: "./shop.ts" }, { render: "always" as const }, { spider: "./shop.ts" }])(
    "is taken where some could: %j",
    (job: JobInput) => {
      expect(resolved({ parse: "queue", ...job }).parse).toEqual({ queue: "parse" });
    },
  );
});

describe("a job that asks for pictures", () => {
  const pictures: NonNullable<JobInput["browser"]>[] = [{ screenshot: true }, { screenshot: "view" }, { pdf: true }];

  it.each(pictures)("is refused where bodies go nowhere: %j", (browser) => {
    expect(() => resolved({ render: "always", browser }, "none")).toThrow(/TRAWL_BODIES, which is none/);
    expect(() => resolved({ render: "always", browser: {} }, "none")).not.toThrow();
  });

  it.each(pictures)("is refused where it keeps nothing that they hang on: %j", (browser) => {
    const keeping = (keep: JobInput["keep"]) => () => resolved({ render: "always", browser, keep });
    expect(keeping({ pages: false, records: false })).toThrow(/keep.pages and keep.records are both off/);
    expect(keeping({ pages: false })).not.toThrow();
    expect(keeping({ records: false })).not.toThrow();
  });
});

describe("a job that says how to render", () => {
  it("is refused if it does not say whether", () => {
    const browser = { waitFor: "idle" as const };
    expect(() => resolved({ browser })).toThrow(/add render: auto or always/);
    for (const render of ["never", "auto", "always"] as const)
      expect(() => resolved({ render, browser })).not.toThrow();
  });
});

describe("a job's headers", () => {
  it.each(["Host", "transfer-encoding", "Upgrade", "keep-alive", "Connection", "content-length", "expect"])(
    "are refused where they are about the connection: %s",
    (name) => {
      expect(() => parseJob({ headers: { [name]: "x", "x-mine": "y" } })).toThrow(
        `headers.${name}: is about the connection`,
      );
    },
  );

  it("are refused by name where none can be called so", () => {
    expect(() => parseJob({ headers: { "x y": "z" } })).toThrow("headers.x y: is not a header name");
  });
});

function resolved(job: JobInput, bodies = "file:.trawl/bodies") {
  return resolveJob(
    job,
    { ...resolveConfig([]), bodies },
    {
      id: "job",
      requestId: "r",
      queue: undefined,
      typedHosts: [],
      out: undefined,
    },
  );
}
