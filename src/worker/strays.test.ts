import { once } from "node:events";
import { setImmediate } from "node:timers/promises";
import { beforeEach, describe, expect, it } from "vitest";
import { createLog } from "../runtime/log.ts";
import { createStrays, type StrayPage, type Strays } from "./strays.ts";

const NEVER = new AbortController().signal;
const ASTRAY = new Error("thrown in a callback");

describe("an error that a handler throws where nobody can catch it", () => {
  const lines: string[] = [];
  beforeEach(() => void lines.splice(0));

  it("fails the page that it was started for, and no other", async () => {
    const strays = createStrays({ log: createLog("warn", (line) => void lines.push(line)) });
    const found: (string | undefined)[] = [];
    const throwing = strays.follow(pageAt("https://a.test/bad"), NEVER, async (signal) => {
      globalThis.setImmediate(() => found.push(blame(strays)));
      await once(signal, "abort");
      found.push("aborted");
    });
    const good = strays.follow(pageAt("https://a.test/good"), NEVER, () => setImmediate("read"));

    await expect(throwing).rejects.toBe(ASTRAY);
    expect(await good).toBe("read");
    expect(found).toEqual(["https://a.test/bad", "aborted"]);
    expect(lines).toEqual([]);
  });

  it("changes nothing of a page that has ended, but is logged with its ids", async () => {
    const strays = createStrays({ log: createLog("warn", (line) => void lines.push(line)) });
    let later: string | undefined;
    const over = new Promise<void>((resolve) => {
      void strays.follow(pageAt("https://a.test/"), NEVER, () => {
        globalThis.setImmediate(() => {
          later = blame(strays);
          resolve();
        });
      });
    });

    await over;
    expect(later).toBe("https://a.test/");
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { event: "worker.stray_error", jobId: "j1", taskId: "7", url: "https://a.test/", cause: expect.anything() },
    ]);
  });

  it("is nobody's outside of handlers; what a handler throws itself is heard as ever", async () => {
    const strays = createStrays({ log: createLog("warn", (line) => void lines.push(line)) });
    expect(strays.findCulprit()).toBeUndefined();
    const handle = () => {
      throw ASTRAY;
    };
    await expect(strays.follow(pageAt("https://a.test/"), NEVER, handle)).rejects.toBe(ASTRAY);
  });
});

function pageAt(url: string): StrayPage {
  return { jobId: "j1", taskId: "7", url };
}

function blame(strays: Strays): string | undefined {
  const culprit = strays.findCulprit();
  culprit?.fail(ASTRAY);
  return culprit?.url;
}
