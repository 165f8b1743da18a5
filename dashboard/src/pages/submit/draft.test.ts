import { describe, expect, it } from "vitest";
import { ApiError } from "../../../../src/client/api-error.ts";
import type { JobInput } from "../../../../src/client/client.ts";
import { wordsOf } from "../../ui/problem.tsx";
import { problemsOf } from "../../ui/problems.ts";
import { doubledNames, draftOf, jobOf, newDraft } from "./draft.ts";
import { readJob } from "./job-shape.ts";

describe("a job that is being written", () => {
  it.each<JobInput>([
    { urls: ["https://a.example/"] },
    {
      urls: [],
      follow: {},
      extract: { title: "h1", tags: ["a.tag"], price: { select: ".p", type: "number" } },
    },
    {
      name: "shop",
      urls: ["https://a.example/"],
      extract: {
        $each: ".card",
        sku: { select: ".sku", required: true, match: "([0-9]+)", list: true },
        offer: { select: ".offer", fields: { price: ".price" } },
        stock: { select: ".stock", default: 0 },
      },
      retries: { max: 1 },
    },
  ])("is the same by the form as it was as JSON: %j", (job) => {
    expect(jobOf(draftOf(job))).toEqual(job);
  });

  it("has no field without a name or a selector, and says which names are taken twice", () => {
    const [row] = newDraft().rows;
    if (row === undefined) throw new Error("a new job has a field");
    const rows = [row, { ...row, key: 2, name: "" }, { ...row, key: 3, name: "price", select: "" }];

    expect(jobOf({ job: { urls: [] }, rows, each: "" })).toEqual({ urls: [], extract: { title: "h1" } });
    expect([...doubledNames([...rows, { ...row, key: 4 }])]).toEqual(["title"]);
  });
});

describe("a job as JSON", () => {
  it.each([
    ["{ nope", /JSON/],
    ["[]", /an object/],
    ['{ "urls": "https://a.example/" }', /urls: takes a list/],
    ['{ "extract": { "a": 1 } }', /extract: takes/],
    ['{ "extract": { "a": [["b"]] } }', /extract: takes/],
    ['{ "follow": { "include": "x" } }', /follow: takes/],
    ['{ "keep": null }', /keep: takes/],
  ])("is refused where the form could not show it: %s", (text, words) => {
    expect(readJob(text)).toEqual({ problem: expect.stringMatching(words) });
  });

  it("is taken with keys and values that only the server knows of", () => {
    const job = { urls: [], politeness: { rate: "fast" }, whatever: 1, extract: { a: { select: "b", odd: true } } };

    expect(readJob(JSON.stringify(job))).toEqual({ job });
  });
});

describe("what the server finds wrong", () => {
  it("stands beside the field that it is about", () => {
    const detail = "body.politeness.rate: takes a rate; body.extract.price: select: a selector cannot be empty";
    const error = new ApiError(400, { code: "BAD_REQUEST", detail, problems: detail.split("; ") });
    const problems = problemsOf(error);

    expect(problems.at("politeness.rate")).toBe("takes a rate");
    expect(problems.rest).toBe(error);
    expect(problems.at("extract.price")).toBe("select: a selector cannot be empty");
    expect(problems.at("name")).toBeUndefined();
    expect(problems.rest).toBeUndefined();
  });

  it.each([
    ['field "a.b"', "extract.a.b"],
    ["follow.links", "follow.links"],
    ['"$each"', "extract.$each"],
  ])("finds the selector that is wrong by its owner: %s", (owner, path) => {
    const error = new ApiError(400, { code: "BAD_SELECTOR", detail: `${owner}: "a[" is none`, owner });

    expect(problemsOf(error).at(path)).toBe('"a[" is none');
  });

  it.each([
    ["query.every: takes a duration", "Every: takes a duration.", "every"],
    ["body.job.urls: give one", "job.urls: give one.", "job.urls"],
    ["body: unknown foo; body.name: is long", "Unknown foo; name: is long.", "unknown"],
  ])("does not say in which part of a request it stands: %s", (detail, words, path) => {
    const error = new ApiError(400, { code: "BAD_REQUEST", detail });

    expect(wordsOf(error).what).toBe(words);
    expect(problemsOf(error).at(path)).toBe(detail.startsWith("body: ") ? undefined : detail.split(": ")[1]);
  });

  it("has no word for programs in it", () => {
    const detail = "urls: the job has none; give some, or open: true and send them to /v1/jobs/ID/urls";

    expect(problemsOf(new ApiError(400, { code: "BAD_JOB", detail })).at("urls")).toBe("the job has none; give some");
  });

  it("is shown whole where it is about no field", () => {
    const error = new ApiError(429, { code: "QUOTA_REACHED", detail: "jobs: 20 at most" });

    expect(problemsOf(error).at("jobs")).toBeUndefined();
    expect(problemsOf(error).rest).toBe(error);
  });
});
