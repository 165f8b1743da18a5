import { describe, expect, it } from "vitest";
import { resolveConfig } from "../config/resolve.ts";
import type { JobInput } from "./job-schema.ts";
import { parseJob, resolveJob } from "./resolve-job.ts";

describe("a job with parse: queue", () => {
  it("is refused if no page can reach a parse worker: with a spider and render: always, pages stay in their browser", () => {
    expect(() => resolved({ parse: "queue", render: "always", spider: "./shop.ts" })).toThrow(
      /parse: "queue" does not work with render: "always" in a spider: .*remove parse, or use render: "auto"/,
    );
  });

  it.each([{ render: "auto" as const, spider: "./shop.ts" }, { render: "always" as const }, { spider: "./shop.ts" }])(
    "is accepted if some pages can reach a parse worker: %j",
    (job: JobInput) => {
      expect(resolved({ parse: "queue", ...job }).parse).toEqual({ queue: "parse" });
    },
  );
});

describe("a job with proxy.region", () => {
  const routes = [{ match: { url: ["/slow/**"] }, queue: "slow" }];
  const queuesOf = (job: JobInput, queue?: string) => {
    const defaults = { ...resolveConfig([]), routes };
    const spec = resolveJob(parseJob(job), defaults, {
      ...{ id: "j1", requestId: "r1", queue, typedHosts: [], out: undefined },
    });
    return [spec.queue, spec.renderQueue, ...(spec.routes ?? []).map((route) => route.queue)];
  };

  it("uses the queues of the region, also those of routes and for rendering", () => {
    expect(queuesOf({ proxy: { region: "eu" } })).toEqual(["fetch@eu", "render@eu", "slow@eu"]);
    expect(queuesOf({ proxy: { region: "eu" }, queue: "mine" })).toEqual(["mine@eu", "mine@eu", "mine@eu"]);
    expect(queuesOf({ proxy: { use: "none", region: "eu" } })).toEqual(["fetch", "render", "slow"]);
  });

  it("keeps the queue of a crawl", () => {
    expect(queuesOf({ proxy: { region: "eu" } }, "crawl:j1")[0]).toBe("crawl:j1");
  });
});

describe("a job with screenshots or PDFs", () => {
  const pictures: NonNullable<JobInput["browser"]>[] = [{ screenshot: true }, { screenshot: "view" }, { pdf: true }];

  it.each(pictures)("is refused if bodies are not stored: %j", (browser) => {
    expect(() => resolved({ render: "always", browser }, "none")).toThrow(/TRAWL_BODIES, which is none/);
    expect(() => resolved({ render: "always", browser: {} }, "none")).not.toThrow();
  });

  it.each(pictures)("is refused if neither pages nor records are stored: %j", (browser) => {
    const keeping = (keep: JobInput["keep"]) => () => resolved({ render: "always", browser, keep });
    expect(keeping({ pages: false, records: false })).toThrow(/keep.pages and keep.records are both off/);
    expect(keeping({ pages: false })).not.toThrow();
    expect(keeping({ records: false })).not.toThrow();
  });
});

describe("a job that keeps bodies", () => {
  it("is refused if bodies are not stored", () => {
    expect(() => resolved({ keep: { bodies: true } }, "none")).toThrow(/keep.bodies: .*TRAWL_BODIES, which is none/);
    expect(() => resolved({ keep: { bodies: false } }, "none")).not.toThrow();
    expect(resolved({ keep: { bodies: true } }).keep.bodies).toBe(true);
  });
});

describe("a job with browser settings", () => {
  it("is refused without render", () => {
    const browser = { waitFor: "idle" as const };
    expect(() => resolved({ browser })).toThrow(/add render: auto or always/);
    for (const render of ["never", "auto", "always"] as const)
      expect(() => resolved({ render, browser })).not.toThrow();
  });
});

describe("a job's headers", () => {
  it.each(["Host", "transfer-encoding", "Upgrade", "keep-alive", "Connection", "content-length", "expect"])(
    "are refused if they describe the connection: %s",
    (name) => {
      expect(() => parseJob({ headers: { [name]: "x", "x-mine": "y" } })).toThrow(
        `headers.${name}: is a connection header`,
      );
    },
  );

  it("are refused with an invalid name", () => {
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
