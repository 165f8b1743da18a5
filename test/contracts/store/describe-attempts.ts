/** The contract of every store backend, continued: attempts. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Store } from "../../../src/store/store.ts";
import type { StoreFixture } from "./describe-store.ts";
import { anAttemptWrite, aPageWrite } from "./page-write.ts";

export function describeAttempts(name: string, prepare: () => Promise<StoreFixture>): void {
  describe(`attempts on ${name}`, () => {
    let fixture: StoreFixture;
    let store: Store;
    beforeEach(async () => {
      fixture = await prepare();
      store = await fixture.open();
    });
    afterEach(async () => {
      await store.close();
      await fixture.remove();
    });

    it("returns an attempt as it was written, and a page with its lease", async () => {
      const failed = anAttemptWrite({ token: 1, status: 503, detail: "slow down \u{1F40C}" });
      const bare = anAttemptWrite({
        token: 2,
        status: undefined,
        detail: undefined,
        outcome: "returned",
        because: "stopped",
      });
      const run = {
        worker: "host/2",
        step: "render" as const,
        attempt: 3,
        leasedAt: 1_700_000_000_000.5,
        endedAt: 1_700_000_000_900.25,
      };
      const page = aPageWrite({ token: 3, run });

      expect(await store.write([], [failed, bare])).toEqual([]);
      expect(await store.write([page])).toEqual(["written"]);

      expect(await store.traceAttempts({ taskId: "task" })).toEqual([failed, bare]);
      const { jobId, taskId, token, depth, bodyRef } = page;
      expect(await store.tracePages({ taskId: "task" })).toEqual([
        {
          ...page.page,
          id: expect.any(Number),
          jobId,
          taskId,
          token,
          depth,
          bodyRef,
          records: 1,
          invalid: 0,
          unchanged: false,
          run,
        },
      ]);
    });

    it("returns no lease for a page that was written without one", async () => {
      await store.write([aPageWrite({ run: undefined })]);

      expect(await store.tracePages({ taskId: "task" })).toMatchObject([{ run: undefined }]);
      expect(await store.slowestPages("job", 5)).toEqual([]);
    });

    it("stores an attempt once, however often it is written", async () => {
      await store.write([], [anAttemptWrite({ detail: "first" }), anAttemptWrite({ detail: "again" })]);
      await store.write([], [anAttemptWrite({ detail: "later" })]);

      expect(await store.traceAttempts({ taskId: "task" })).toMatchObject([{ detail: "first" }]);
    });

    it("ignores an attempt of a lease after an attempt or a page of a later lease was written", async () => {
      await store.write([aPageWrite({ taskId: "paged", token: 4 })], [anAttemptWrite({ taskId: "tried", token: 2 })]);

      await store.write(
        [aPageWrite({ taskId: "both", token: 2 })],
        [
          anAttemptWrite({ taskId: "tried", token: 1 }),
          anAttemptWrite({ taskId: "paged", token: 3 }),
          anAttemptWrite({ taskId: "paged", token: 4 }),
          anAttemptWrite({ taskId: "both", token: 1 }),
          anAttemptWrite({ taskId: "tried", token: 3 }),
        ],
      );

      const tokens = (await store.traceAttempts({ taskId: "tried" })).map(({ token }) => token);
      expect(tokens).toEqual([2, 3]);
      expect(await store.traceAttempts({ taskId: "paged" })).toEqual([]);
      expect(await store.traceAttempts({ taskId: "both" })).toEqual([]);
    });

    it("writes the pages and attempts of a batch together or not at all", async () => {
      const circle: Record<string, unknown> = {};
      circle.self = circle;

      await expect(store.write([aPageWrite({ records: [circle] })], [anAttemptWrite({})])).rejects.toThrow(/JSON/);

      expect(await store.traceAttempts({ taskId: "task" })).toEqual([]);
    });

    it("finds the pages and attempts of a URL in one job, with its render and parse steps", async () => {
      const url = "https://a.test/x";
      await store.write(
        [
          aPageWrite({ taskId: "1", page: { url } }),
          aPageWrite({ taskId: "2", page: { url: `${url}y` } }),
          aPageWrite({ jobId: "other", taskId: "3", page: { url } }),
        ],
        [
          anAttemptWrite({ taskId: "4", url: `${url}#render`, token: 2 }),
          anAttemptWrite({ taskId: "4", url: `${url}#render`, token: 3 }),
          anAttemptWrite({ taskId: "5", url: `${url}#parse` }),
          anAttemptWrite({ taskId: "6", url: `${url}#parse-1`, outcome: "passed" }),
          anAttemptWrite({ jobId: "other", taskId: "7", url }),
        ],
      );

      const query = { jobId: "job", url };
      expect((await store.tracePages(query)).map(({ taskId }) => taskId)).toEqual(["1"]);
      expect((await store.traceAttempts(query)).map(({ taskId, token }) => [taskId, token])).toEqual([
        ["4", 2],
        ["4", 3],
        ["5", 1],
        ["6", 1],
      ]);
      expect(await store.tracePages({ jobId: "none", url })).toEqual([]);
    });

    it("finds a task id in every job that contains it", async () => {
      await store.write(
        [aPageWrite({ jobId: "a" })],
        [anAttemptWrite({ jobId: "b" }), anAttemptWrite({ jobId: "c", taskId: "x" })],
      );

      expect(await store.tracePages({ taskId: "task" })).toMatchObject([{ jobId: "a" }]);
      expect(await store.traceAttempts({ taskId: "task" })).toMatchObject([{ jobId: "b" }]);
    });

    it("returns the slowest pages, and groups failed attempts by reason and status", async () => {
      const lasting = (ms: number) => ({
        worker: "w",
        step: "fetch" as const,
        attempt: 1,
        leasedAt: 1000,
        endedAt: 1000 + ms,
      });
      await store.write(
        [5, 50, 20].map((ms) => aPageWrite({ taskId: String(ms), run: lasting(ms) })),
        [
          anAttemptWrite({ taskId: "1", status: 500, because: "server_error", url: "https://a.test/1" }),
          anAttemptWrite({ taskId: "2", status: 500, because: "server_error", url: "https://a.test/2" }),
          anAttemptWrite({ taskId: "3", status: undefined, because: "timeout", outcome: "dead" }),
          anAttemptWrite({ taskId: "4", jobId: "other" }),
          anAttemptWrite({ taskId: "5", outcome: "passed", because: "passed on to parse", status: 200 }),
        ],
      );

      expect((await store.slowestPages("job", 2)).map(({ taskId }) => taskId)).toEqual(["50", "20"]);
      expect(await store.groupAttempts("job", 5)).toEqual([
        { outcome: "retry", because: "server_error", status: 500, count: 2, sample: expect.stringMatching(/^https:/) },
        { outcome: "dead", because: "timeout", status: undefined, count: 1, sample: expect.any(String) },
      ]);
      expect(await store.groupAttempts("job", 1)).toHaveLength(1);
    });
  });
}
