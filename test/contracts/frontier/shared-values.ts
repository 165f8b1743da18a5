import { expect } from "vitest";
import type { Suite } from "./backend.ts";

/** Values that all workers share (F24). */
export function sharedValues({ open, test }: Suite): void {
  test("F24 a value is visible until it expires, and its version grows", async () => {
    const { frontier, clock } = await open();
    expect(await frontier.findValue("session:1")).toBeUndefined();

    expect(await frontier.keepValue("session:1", "a", { version: 0, ttlMs: 1_000 })).toBe(1);
    expect(await frontier.keepValue("session:1", "ünïcode \n {}", { version: 1, ttlMs: 1_000 })).toBe(2);
    expect(await frontier.findValue("session:1")).toEqual({ value: "ünïcode \n {}", version: 2 });
    expect(await frontier.findValue("session:2")).toBeUndefined();

    clock.advance(1_000);
    expect(await frontier.findValue("session:1")).toBeUndefined();
    expect(await frontier.keepValue("session:1", "b", { version: 2, ttlMs: 1_000 })).toBeUndefined();
    expect(await frontier.keepValue("session:1", "b", { version: 0, ttlMs: 1_000 })).toBe(1);
  });

  test("F24 of concurrent writes with the same version, one succeeds", async () => {
    const { frontier } = await open();
    for (let version = 0; version < 5; version++) {
      const writers = Array.from({ length: 20 }, (_, nth) =>
        frontier.keepValue("login", `${version}-${nth}`, { version, ttlMs: 60_000 }),
      );
      const written = (await Promise.all(writers)).filter((answer) => answer !== undefined);
      expect(written).toEqual([version + 1]);
    }
  });
}
