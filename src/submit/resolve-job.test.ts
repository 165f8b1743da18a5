import { describe, expect, it } from "vitest";
import { resolveConfig } from "../config/resolve.ts";
import type { JobInput } from "./job-schema.ts";
import { resolveJob } from "./resolve-job.ts";

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

function resolved(job: JobInput) {
  return resolveJob(job, resolveConfig([]), {
    id: "job",
    requestId: "r",
    queue: undefined,
    typedHosts: [],
    out: undefined,
  });
}
