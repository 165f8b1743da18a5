import { describe, expect, it } from "vitest";
import { DIGEST_URLS, digestJob } from "./job-digest.ts";

const URLS = ["https://a.example/1", "https://a.example/2"];
const WHOLE = { isWhole: true };
const long = (last: string) => [...Array.from({ length: DIGEST_URLS }, (_, nth) => `https://a.example/${nth}`), last];

describe("the digest of a job", () => {
  it.each([
    [
      "keys in another order",
      { priority: 3, extract: { b: "p", a: "h1" } },
      { extract: { a: "h1", b: "p" }, priority: 3 },
    ],
    ["empty parts", { limits: {}, retries: {}, keep: {}, headers: {}, politeness: {} }, {}],
    ["header names in another case", { headers: { "X-Token": "s" } }, { headers: { "x-token": "s" } }],
  ])("is the same with %s", (_, one, other) => {
    expect(digestJob(one, URLS, WHOLE)).toEqual(digestJob(other, URLS, WHOLE));
  });

  it("is the same for URLs with the same canonical form, and ignores invalid ones", () => {
    const written = [" HTTPS://A.example/1#top", "not a URL", "https://a.example:443/2"];

    expect(digestJob({}, written, WHOLE)).toEqual(digestJob({}, URLS, WHOLE));
  });

  it.each([
    ["an option", { priority: 3 }, URLS],
    ["an empty follow, which follows links", { follow: {} }, URLS],
    ["another URL", {}, ["https://a.example/1", "https://a.example/3"]],
    ["another order", {}, [...URLS].reverse()],
  ])("differs by %s", (_, job, urls) => {
    expect(digestJob(job, urls, WHOLE).job).not.toBe(digestJob({}, URLS, WHOLE).job);
  });

  it("covers the first 1,000 URLs, and all of them if the whole list is known", () => {
    const [one, other] = [long("https://a.example/x"), long("https://a.example/y")];

    expect(digestJob({}, one, { isWhole: false })).toEqual(digestJob({}, other, { isWhole: false }));
    expect(digestJob({}, one, WHOLE).list).not.toBe(digestJob({}, other, WHOLE).list);
  });
});
