import { describe, expect, it } from "vitest";
import { ApiError } from "../../../../src/client/api-error.ts";
import type { JobInput } from "../../../../src/client/client.ts";
import { problemsOf } from "../../ui/field-problems.ts";
import { errorText } from "../../ui/problem.tsx";
import { draftOf, duplicateNames, jobOf, newDraft } from "./job-draft.ts";
import { readJob } from "./job-shape.ts";

describe("the job form", () => {
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
    {
      urls: [{ url: "https://a.example/", json: { page: 1 } }],
      sitemaps: { from: true, since: "7d" },
      sessions: {},
      login: { url: "https://a.example/login", json: { user: "env:SHOP_USER", keep: true } },
      proxy: { use: "none" },
    },
  ])("does not change a job that is read from JSON: %j", (job) => {
    expect(jobOf(draftOf(job))).toEqual(job);
  });

  it("leaves out fields without a name or a selector and finds duplicate names", () => {
    const [row] = newDraft().rows;
    if (row === undefined) throw new Error("a new draft has one field");
    const rows = [row, { ...row, key: 2, name: "" }, { ...row, key: 3, name: "price", select: "" }];

    expect(jobOf({ job: { urls: [] }, rows, each: "" })).toEqual({ urls: [], extract: { title: "h1" } });
    expect([...duplicateNames([...rows, { ...row, key: 4 }])]).toEqual(["title"]);
  });
});

describe("the JSON editor", () => {
  it.each([
    ["{ nope", /JSON/],
    ["[]", /JSON object/],
    ['{ "urls": "https://a.example/" }', /urls: must be a list/],
    ['{ "extract": { "a": 1 } }', /extract: must be/],
    ['{ "extract": { "a": [["b"]] } }', /extract: must be/],
    ['{ "follow": { "include": "x" } }', /follow: must be/],
    ['{ "keep": null }', /keep: must be/],
    ['{ "sitemaps": {} }', /sitemaps: must be/],
    ['{ "login": { "url": "https://a.example/", "form": [] } }', /login: must be/],
    ['{ "proxy": { "use": "dc" } }', /proxy: must be/],
    ['{ "sessions": 5 }', /sessions: must be/],
  ])("refuses JSON that the form cannot show: %s", (text, message) => {
    expect(readJob(text)).toEqual({ problem: expect.stringMatching(message) });
  });

  it("accepts unknown keys and leaves their validation to the server", () => {
    const job = { urls: [], politeness: { rate: "fast" }, whatever: 1, extract: { a: { select: "b", odd: true } } };

    expect(readJob(JSON.stringify(job))).toEqual({ job });
  });
});

describe("validation errors of the server", () => {
  it("are assigned to their fields", () => {
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
  ])("are assigned to a selector by its owner: %s", (owner, path) => {
    const error = new ApiError(400, { code: "BAD_SELECTOR", detail: `${owner}: "a[" is none`, owner });

    expect(problemsOf(error).at(path)).toBe('"a[" is none');
  });

  it.each([
    ["query.every: takes a duration", "Every: takes a duration.", "every"],
    ["body.job.urls: give one", "job.urls: give one.", "job.urls"],
    ["body: unknown foo; body.name: is long", "Unknown foo; name: is long.", "unknown"],
  ])("do not name the part of the request: %s", (detail, text, path) => {
    const error = new ApiError(400, { code: "BAD_REQUEST", detail });

    expect(errorText(error).what).toBe(text);
    expect(problemsOf(error).at(path)).toBe(detail.startsWith("body: ") ? undefined : detail.split(": ")[1]);
  });

  it("do not contain advice for API clients", () => {
    const detail = "urls: the job has no URLs; add URLs, or set open: true and send them to /v1/jobs/ID/urls";

    expect(problemsOf(new ApiError(400, { code: "BAD_JOB", detail })).at("urls")).toBe("the job has no URLs; add URLs");
  });

  it("are found in a section without counting as shown, and apart from those of its fields", () => {
    const detail = "login: has neither form nor json\nlogin.url: takes a URL";
    const error = new ApiError(400, { code: "BAD_JOB", detail });
    const problems = problemsOf(error);

    expect([problems.has("login"), problems.has("proxy")]).toEqual([true, false]);
    expect(problems.own("login")).toBe("has neither form nor json");
    expect(problems.rest).toBe(error);
    expect(problems.at("login.url")).toBe("takes a URL");
    expect(problems.rest).toBeUndefined();
  });

  it("are shown as a whole if they belong to no field", () => {
    const error = new ApiError(429, { code: "QUOTA_REACHED", detail: "jobs: 20 at most" });

    expect(problemsOf(error).at("jobs")).toBeUndefined();
    expect(problemsOf(error).rest).toBe(error);
  });
});
