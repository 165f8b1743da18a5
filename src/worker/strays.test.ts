import { once } from "node:events";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createStrays, type Strays } from "./strays.ts";

const NEVER = new AbortController().signal;
const ASTRAY = new Error("thrown in a callback");

describe("an error that a handler throws where nobody can catch it", () => {
  it("fails the page that it was started for, and no other", async () => {
    const strays = createStrays();
    const found: (string | undefined)[] = [];
    const throwing = strays.follow("https://a.test/bad", NEVER, async (signal) => {
      globalThis.setImmediate(() => found.push(blame(strays)));
      await once(signal, "abort");
      found.push("aborted");
    });
    const good = strays.follow("https://a.test/good", NEVER, () => setImmediate("read"));

    await expect(throwing).rejects.toBe(ASTRAY);
    expect(await good).toBe("read");
    expect(found).toEqual(["https://a.test/bad", "aborted"]);
  });

  it("changes nothing of a page that has ended, but names it", async () => {
    const strays = createStrays();
    let later: string | undefined;
    const over = new Promise<void>((resolve) => {
      void strays.follow("https://a.test/", NEVER, () => {
        globalThis.setImmediate(() => {
          later = blame(strays);
          resolve();
        });
      });
    });

    await over;
    expect(later).toBe("https://a.test/");
  });

  it("is nobody's outside of handlers; what a handler throws itself is heard as ever", async () => {
    const strays = createStrays();
    expect(strays.findCulprit()).toBeUndefined();
    const handle = () => {
      throw ASTRAY;
    };
    await expect(strays.follow("https://a.test/", NEVER, handle)).rejects.toBe(ASTRAY);
  });
});

function blame(strays: Strays): string | undefined {
  const culprit = strays.findCulprit();
  culprit?.fail(ASTRAY);
  return culprit?.url;
}
