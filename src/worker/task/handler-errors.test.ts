import { once } from "node:events";
import { setImmediate } from "node:timers/promises";
import { beforeEach, describe, expect, it } from "vitest";
import { createLog } from "../../runtime/log.ts";
import { createHandlerErrors, type FollowedPage, type HandlerErrors } from "./handler-errors.ts";

const NEVER = new AbortController().signal;
const UNCAUGHT = new Error("thrown in a callback");

describe("an uncaught error of code that a handler started", () => {
  const lines: string[] = [];
  beforeEach(() => void lines.splice(0));

  it("fails the page of that handler, and no other", async () => {
    const handlerErrors = createHandlerErrors({ log: createLog("warn", (line) => void lines.push(line)) });
    const found: (string | undefined)[] = [];
    const throwing = handlerErrors.follow(pageAt("https://a.test/bad"), NEVER, async (signal) => {
      globalThis.setImmediate(() => found.push(failCurrent(handlerErrors)));
      await once(signal, "abort");
      found.push("aborted");
    });
    const good = handlerErrors.follow(pageAt("https://a.test/good"), NEVER, () => setImmediate("read"));

    await expect(throwing).rejects.toBe(UNCAUGHT);
    expect(await good).toBe("read");
    expect(found).toEqual(["https://a.test/bad", "aborted"]);
    expect(lines).toEqual([]);
  });

  it("is only logged, with the ids of the task, if the handler has ended", async () => {
    const handlerErrors = createHandlerErrors({ log: createLog("warn", (line) => void lines.push(line)) });
    let later: string | undefined;
    const over = new Promise<void>((resolve) => {
      void handlerErrors.follow(pageAt("https://a.test/"), NEVER, () => {
        globalThis.setImmediate(() => {
          later = failCurrent(handlerErrors);
          resolve();
        });
      });
    });

    await over;
    expect(later).toBe("https://a.test/");
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      {
        event: "worker.late_handler_error",
        jobId: "j1",
        taskId: "7",
        url: "https://a.test/",
        cause: expect.anything(),
      },
    ]);
  });

  it("has no page outside handlers; an error that the handler itself throws rejects the call", async () => {
    const handlerErrors = createHandlerErrors({ log: createLog("warn", (line) => void lines.push(line)) });
    expect(handlerErrors.currentHandlerPage()).toBeUndefined();
    const handle = () => {
      throw UNCAUGHT;
    };
    await expect(handlerErrors.follow(pageAt("https://a.test/"), NEVER, handle)).rejects.toBe(UNCAUGHT);
  });
});

function pageAt(url: string): FollowedPage {
  return { jobId: "j1", taskId: "7", url };
}

function failCurrent(handlerErrors: HandlerErrors): string | undefined {
  const page = handlerErrors.currentHandlerPage();
  page?.fail(UNCAUGHT);
  return page?.url;
}
