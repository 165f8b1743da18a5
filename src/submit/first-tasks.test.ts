import { describe, expect, it } from "vitest";
import { aJobSpec } from "../../test/submit/a-job-spec.ts";
import { firstTasks } from "./first-tasks.ts";

const LARGE = JSON.stringify({ url: "https://a.example/x", body: "x".repeat(65_537) });

describe("the first tasks of a job", () => {
  it.each([
    ["TRAWL_BODIES is none", { bodies: "none", requestBodyBytes: 100_000 }, /TRAWL_BODIES, which is none/],
    ["it is above the limit", { bodies: "file:x", requestBodyBytes: 65_536 }, /raise TRAWL_REQUEST_BODY_BYTES/],
  ])("do not contain a request with a large body if %s", (_, settings, reason) => {
    const { tasks, refused } = firstTasks(aJobSpec({}), ["https://a.example/", LARGE], settings);

    expect(tasks.map(({ url }) => url)).toEqual(["https://a.example/"]);
    expect(refused).toEqual([{ index: 1, url: "https://a.example/x", reason: expect.stringMatching(reason) }]);
  });
});
