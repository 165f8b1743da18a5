import { expect, it } from "vitest";
import type { ProxiesOut } from "../../../../src/client/wire-types.ts";
import { proxyRowsOf, siteRowsOf, totalsOf } from "./proxy-rows.ts";

const FIGURES = { requests: 10, success: 0.5, blocked: 1, averageMs: 100, bytes: 1_000, cost: 2 };
const UNTIL = "2026-01-31T12:00:00.000Z";

const FOUND: ProxiesOut = {
  proxies: [
    { ...FIGURES, id: "1", proxy: "http://dc.example", provider: "acme", tags: ["dc"], ...healthy(), success: 1 },
    {
      ...{ ...FIGURES, id: "2", proxy: "http://eu.example", provider: "bee", tags: ["EU"] },
      ...healthy(),
      ejectedAt: ["a.example"],
    },
    {
      ...{ ...FIGURES, id: "3", proxy: "http://us.example", provider: "bee", tags: ["us"] },
      ...{ state: "ejected", ejectedUntil: UNTIL, ejectedAt: [] },
    },
  ],
  providers: [
    { ...FIGURES, provider: "acme", site: "a.example", proxies: 1, ejected: 0, ejectedUntil: null },
    { ...FIGURES, provider: "bee", site: "a.example", proxies: 2, ejected: 1, ejectedUntil: UNTIL },
    { ...FIGURES, provider: "bee", site: "b.example", proxies: 1, ejected: 0, ejectedUntil: null },
  ],
};

it("finds proxies by a part of any name, and those that are ejected", () => {
  const sites = (text: string, isEjectedOnly = false) =>
    siteRowsOf(FOUND, text, isEjectedOnly).map(({ provider, site }) => `${provider} ${site}`);
  const proxies = (text: string, isEjectedOnly = false) => proxyRowsOf(FOUND, text, isEjectedOnly).map(({ id }) => id);

  expect(sites("")).toHaveLength(3);
  expect(sites("B.EX")).toEqual(["bee b.example"]);
  expect(sites("", true)).toEqual(["bee a.example"]);
  expect(proxies("eu")).toEqual(["2"]);
  expect(proxies("bee", true)).toEqual(["2", "3"]);
  expect(proxies("a.example", true)).toEqual(["2"]);
});

it("adds up the figures of all proxies", () => {
  expect(totalsOf(FOUND)).toEqual({ requests: 30, success: 2 / 3, blocked: 3, cost: 6, ejected: 2 });
  expect(totalsOf({ proxies: [], providers: [] })).toMatchObject({ requests: 0, success: null });
});

function healthy() {
  return { state: "healthy" as const, ejectedUntil: null, ejectedAt: [] as string[] };
}
