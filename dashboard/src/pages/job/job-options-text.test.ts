import { expect, it } from "vitest";
import type { JobInput } from "../../../../src/client/client.ts";
import { headersText, loginText, proxyText, retriesText, sessionsText, sitemapsText } from "./job-options-text.ts";

const all = (job: JobInput) =>
  [sitemapsText, headersText, sessionsText, loginText, proxyText, retriesText].map((of) => of(job));

it("describes the options that a job sets, and the defaults of the others", () => {
  expect(all({})).toEqual(["not read", "none", "no cookies", "none", "all of the worker", "server default"]);
  expect(
    all({
      sitemaps: { from: ["https://a.example/"], since: "7d" },
      headers: { "x-key": "env:KEY" },
      sessions: { count: 5, per: "site", rotateAfter: 500 },
      login: { url: "https://a.example/login", form: {} },
      // biome-ignore lint/suspicious/noThenProperty: a list is never taken for a promise
      proxy: { use: ["dc", "eu"], then: ["residential", "api"], rotate: "session", budget: 1000 },
      retries: { max: 2, unsafe: false },
    }),
  ).toEqual([
    "1 sitemap, pages since 7d",
    "x-key",
    "5 per site, replaced after 500 tasks",
    "https://a.example/login",
    "dc or eu, then residential, then api, one per session, budget 1,000",
    "at most 2, no request is repeated that may change data",
  ]);
  expect(sitemapsText({ sitemaps: true })).toBe("those of robots.txt");
  expect(sessionsText({ login: { url: "https://a.example/login", form: {} } })).toBe("one, cookies are kept");
  expect(proxyText({ proxy: { use: "none" } })).toBe("none, requests are sent directly");
});
