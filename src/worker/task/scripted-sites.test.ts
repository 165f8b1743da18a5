import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../test/model/manual-clock.ts";
import { createScriptedSites } from "./scripted-sites.ts";

function open() {
  const clock = createManualClock(1_000_000);
  const calls: string[] = [];
  const until = new Map<string, number>();
  const frontier = {
    isScripted: async (site: string) => {
      calls.push(`is ${site}`);
      return (until.get(site) ?? 0) > clock.now();
    },
    markScripted: async (site: string, forMs: number) => {
      calls.push(`mark ${site}`);
      until.set(site, clock.now() + forMs);
    },
  };
  const sites = createScriptedSites({ frontier, clock }, { memoryMs: 60_000, cacheMs: 5_000 });
  return { clock, calls, sites, until };
}

describe("the cache of scripted sites", () => {
  it("queries the broker once per cache period, and marks a site once", async () => {
    const { clock, calls, sites } = open();

    expect(await sites.has("a.test")).toBe(false);
    await sites.mark("a.test");
    await Promise.all([sites.mark("a.test"), sites.mark("a.test")]);
    expect(await sites.has("a.test")).toBe(true);
    expect(calls).toEqual(["is a.test", "mark a.test"]);

    clock.advance(5_000);
    expect(await sites.has("a.test")).toBe(true);
    expect(calls).toEqual(["is a.test", "mark a.test", "is a.test"]);
  });

  it("drops a mark that has expired in the broker, and returns marks of other workers", async () => {
    const { clock, sites, until } = open();
    await sites.mark("a.test");

    clock.advance(60_000);
    expect(await sites.has("a.test")).toBe(false);

    until.set("a.test", clock.now() + 60_000);
    clock.advance(5_000);
    expect(await sites.has("a.test")).toBe(true);
  });
});
