import { expect } from "vitest";
import type { Suite } from "./backend.ts";

/** Sites that need a browser are marked for the whole fleet, for a while (F18). */
export function scriptedSites({ open, test }: Suite): void {
  test("F18 a mark that a site needs a browser expires, and applies to no other site", async () => {
    const { frontier, clock } = await open();
    expect(await frontier.isScripted("a.test")).toBe(false);

    await frontier.markScripted("a.test", 600_000);

    expect(await Promise.all(["a.test", "b.test"].map((site) => frontier.isScripted(site)))).toEqual([true, false]);
    clock.advance(599_000);
    expect(await frontier.isScripted("a.test")).toBe(true);
    clock.advance(1_000);
    expect(await frontier.isScripted("a.test")).toBe(false);
  });

  test("F18 marking a site again extends the mark", async () => {
    const { frontier, clock } = await open();
    await frontier.markScripted("a.test", 600_000);
    clock.advance(500_000);
    await frontier.markScripted("a.test", 600_000);
    await frontier.markScripted("b.test", 600_000);

    clock.advance(500_000);

    expect(await frontier.isScripted("a.test")).toBe(true);
  });
}
