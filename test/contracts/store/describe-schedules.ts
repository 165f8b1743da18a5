/** The contract of the book of schedules; clauses are in src/store/schedule-store.ts. */
import { beforeEach, describe, expect, it } from "vitest";
import {
  type NewSchedule,
  OCCURRENCES_KEPT,
  type OccurrenceClaim,
  type Schedule,
  type ScheduleStore,
} from "../../../src/store/schedule-store.ts";
import { type ControlStoresSite, withControlStores } from "./control-stores.ts";

const T0 = 1_800_000_000_000;

export function describeSchedules(name: string, prepare: () => Promise<ControlStoresSite>): void {
  describe(`the book of schedules on ${name}`, () => {
    const openBooks = withControlStores(prepare);
    const open = async () => (await openBooks()).schedules;
    let book: ScheduleStore;
    beforeEach(async () => {
      book = await open();
    });

    /** A schedule with occurrences at these offsets from T0. */
    async function withSlots(id: string, ...offsets: number[]): Promise<Schedule> {
      await book.add(aSchedule({ id }));
      const occurrences = offsets.map((offset) => ({ at: T0 + offset, kind: "timed" as const }));
      const doneUntil = T0 + Math.max(...offsets);
      expect(await book.advance(await got(id), { doneUntil, nextAt: doneUntil + 1000 }, occurrences)).toBe(true);
      return got(id);
    }
    async function got(id: string): Promise<Schedule> {
      const found = await book.find(id);
      if (found === undefined) throw new Error(`no schedule ${id}`);
      return found;
    }
    const claim = (now: number, most = 10) => book.claim({ now, claimMs: 30_000, most });
    async function claimOne(now: number): Promise<OccurrenceClaim> {
      const [first] = await claim(now);
      if (first === undefined) throw new Error("nothing to claim");
      return first;
    }

    it("keeps a schedule as it was added, and adds an id once", async () => {
      const schedule = aSchedule({
        tenant: "acme",
        nextAt: undefined,
        paused: true,
        job: { urls: ["https://a.test/ü"] },
      });

      expect(await book.add(schedule)).toBe(true);
      expect(await book.add({ ...schedule, name: "another" })).toBe(false);

      expect(await book.find(schedule.id)).toEqual({ ...schedule, version: 1 });
      expect(await book.find("nobody")).toBeUndefined();
    });

    it("lists by id, in pages, of one tenant or of all", async () => {
      for (const id of ["a", "b", "c"]) await book.add(aSchedule({ id, tenant: id === "b" ? "other" : "acme" }));

      const ids = async (...asked: Parameters<ScheduleStore["list"]>) =>
        (await book.list(...asked)).map(({ id }) => id);

      expect(await ids(undefined, 2, "")).toEqual(["a", "b"]);
      expect(await ids(undefined, 2, "b")).toEqual(["c"]);
      expect(await ids("acme", 10, "")).toEqual(["a", "c"]);
    });

    it("S1 takes a change only from whoever knows the latest version", async () => {
      await book.add(aSchedule({ id: "a" }));
      const known = await got("a");

      expect(await book.change({ ...known, name: "new", paused: true, nextAt: undefined })).toBe(true);
      expect(await book.change({ ...known, name: "late" })).toBe(false);
      expect(await book.advance(known, { doneUntil: T0 + 5, nextAt: T0 + 9 }, [{ at: T0 + 1, kind: "timed" }])).toBe(
        false,
      );

      expect(await got("a")).toEqual({ ...known, name: "new", paused: true, nextAt: undefined, version: 2 });
      expect(await claim(T0 + 10)).toEqual([]);
    });

    it("S2 adds the occurrences of a look once, however many look at once", async () => {
      await book.add(aSchedule({ id: "a", nextAt: T0 + 1 }));
      const books = [book, await open(), await open()];
      const occurrences = [
        { at: T0 + 1, kind: "timed" as const, skipped: "missed" as const },
        { at: T0 + 2, kind: "timed" as const },
      ];

      const won = await Promise.all(
        books.map(async (each) => {
          const [due] = await each.listDue(T0 + 2, 10);
          return due !== undefined && each.advance(due.schedule, { doneUntil: T0 + 2, nextAt: T0 + 100 }, occurrences);
        }),
      );

      expect(won.filter((isDone) => isDone)).toHaveLength(1);
      expect(await book.listOccurrences("a", 10, T0 + 1000)).toMatchObject([
        { at: T0 + 2, kind: "timed", state: "waiting", because: undefined },
        { at: T0 + 1, kind: "timed", state: "skipped", because: "missed", endedAt: T0 + 2 },
      ]);
      expect(await book.listDue(T0 + 99, 10)).toEqual([]);
      expect(await book.listDue(T0 + 100, 10)).toMatchObject([
        { schedule: { id: "a", doneUntil: T0 + 2 }, openOccurrences: 1 },
      ]);
    });

    it("lists what is due, the longest due first, and nothing that has no next occurrence", async () => {
      const nexts = { a: T0 + 3, b: T0 + 1, c: undefined, d: T0 + 9 };
      for (const [id, nextAt] of Object.entries(nexts)) await book.add(aSchedule({ id, nextAt }));

      expect((await book.listDue(T0 + 3, 10)).map(({ schedule }) => schedule.id)).toEqual(["b", "a"]);
      expect((await book.listDue(T0 + 3, 1)).map(({ schedule }) => schedule.id)).toEqual(["b"]);
    });

    it("S3 gives an occurrence to one of many at once, and to another when its time is over, with a higher token", async () => {
      await withSlots("a", 1);
      const books = [book, await open(), await open()];

      const claims = (await Promise.all(books.map((each) => each.claim({ now: T0 + 5, claimMs: 10, most: 5 })))).flat();

      expect(claims).toMatchObject([
        { occurrence: { scheduleId: "a", at: T0 + 1, state: "waiting" }, schedule: { id: "a" } },
      ]);
      expect(await claim(T0 + 14)).toEqual([]);
      const again = await claimOne(T0 + 15);
      expect(again.token).toBeGreaterThan(claims[0]?.token ?? Infinity);
    });

    it("S4 hands out the occurrences of a schedule in order, each when the one before has ended, others beside them", async () => {
      await withSlots("a", 1, 2);
      await withSlots("b", 3);

      const first = await claim(T0 + 5);
      expect(first.map(({ occurrence }) => [occurrence.scheduleId, occurrence.at - T0]).sort()).toEqual([
        ["a", 1],
        ["b", 3],
      ]);
      const one = first.find(({ occurrence }) => occurrence.scheduleId === "a") as OccurrenceClaim;
      expect(await claim(T0 + 6)).toEqual([]);
      await book.release(one, T0 + 20, "waits");
      expect(await book.findOccurrence(one.occurrence)).toMatchObject({ state: "waiting", because: "waits" });
      expect(await claim(T0 + 19)).toEqual([]);
      const same = await claimOne(T0 + 20);
      expect(same.occurrence.at).toBe(T0 + 1);
      await book.settle(same, { state: "skipped", because: "overlap" }, T0 + 21);
      expect(
        (await book.claim({ now: T0 + 22, claimMs: 5, most: 1, scheduleId: "a" })).map(
          ({ occurrence }) => occurrence.at,
        ),
      ).toEqual([T0 + 2]);
      expect(await book.claim({ now: T0 + 22, claimMs: 5, most: 1, scheduleId: "b" })).toEqual([]);
    });

    it("S5 takes nothing from a holder whose claim has gone to another", async () => {
      await withSlots("a", 1);
      const late = await claimOne(T0 + 5);
      const holder = await claimOne(T0 + 40_000);

      expect(await book.decide(late)).toBe(false);
      expect(await book.settle(late, { state: "skipped", because: "overlap" }, T0)).toBe(false);
      await book.release(late, T0, "late");
      expect(await claim(T0 + 40_001)).toEqual([]);

      expect(await book.decide(holder)).toBe(true);
      expect(await book.settle(late, { state: "fired", jobId: "x" }, T0)).toBe(false);
      expect(await book.settle(holder, { state: "fired", jobId: "job" }, T0 + 40_002)).toBe(true);
      expect(await book.findOccurrence(holder.occurrence)).toMatchObject({
        state: "fired",
        jobId: "job",
        endedAt: T0 + 40_002,
      });
    });

    it("S6 never skips an occurrence that was decided on, fires none that was not, and leaves alone what has ended", async () => {
      await withSlots("a", 1);
      const first = await claimOne(T0 + 5);
      expect(await book.settle(first, { state: "fired", jobId: "early" }, T0)).toBe(false);
      expect(await book.decide(first)).toBe(true);
      expect(await book.decide(first)).toBe(true); // said again, where the answer got lost
      expect(await book.settle(first, { state: "skipped", because: "overlap" }, T0)).toBe(false);

      const next = await claimOne(T0 + 50_000);

      expect(next.occurrence.state).toBe("firing");
      expect(await book.settle(next, { state: "failed", because: "no such spider" }, T0 + 50_001)).toBe(true);
      expect(await book.settle(next, { state: "fired", jobId: "job" }, T0)).toBe(false);
      expect(await book.decide(next)).toBe(false);
      expect(await book.findOccurrence(next.occurrence)).toMatchObject({
        state: "failed",
        because: "no such spider",
        jobId: undefined,
      });
    });

    it("finds the latest occurrence before another that led to a job", async () => {
      await withSlots("a", 1, 2, 3);
      for (const now of [T0 + 10, T0 + 11, T0 + 12]) {
        const held = await claimOne(now);
        if (held.occurrence.at === T0 + 2) await book.settle(held, { state: "skipped", because: "overlap" }, now);
        else if (await book.decide(held))
          await book.settle(held, { state: "fired", jobId: `job ${held.occurrence.at - T0}` }, now);
      }

      const jobBefore = async (offset: number) =>
        (await book.findFiredBefore({ scheduleId: "a", at: T0 + offset, kind: "timed" }))?.jobId;

      expect([await jobBefore(1), await jobBefore(3), await jobBefore(4)]).toEqual([undefined, "job 1", "job 3"]);
    });

    it("forgets the oldest occurrences that have ended, but for the last that led to a job, and none that waits", async () => {
      await withSlots("a", 1, 2);
      const held = await claimOne(T0 + 5);
      await book.decide(held);
      await book.settle(held, { state: "fired", jobId: "job" }, T0 + 5);
      const missed = (from: number, count: number) =>
        Array.from({ length: count }, (_, n) => ({
          at: T0 + from + n,
          kind: "timed" as const,
          skipped: "missed" as const,
        }));

      await book.advance(await got("a"), { doneUntil: T0 + 5_000, nextAt: undefined }, missed(100, OCCURRENCES_KEPT));
      await book.advance(await got("a"), { doneUntil: T0 + 9_000, nextAt: undefined }, missed(6_000, 10));

      const occurrences = await book.listOccurrences("a", 5_000, T0 + 10_000);
      expect(occurrences.slice(-3).map(({ at, state }) => [at - T0, state])).toEqual([
        [109, "skipped"],
        [2, "waiting"],
        [1, "fired"],
      ]);
    });

    it("removes a schedule with its occurrences, and what was claimed of it comes to nothing", async () => {
      await withSlots("a", 1);
      const held = await claimOne(T0 + 5);

      expect(await book.remove("a")).toBe(true);

      expect(await book.remove("a")).toBe(false);
      expect(await book.decide(held)).toBe(false);
      expect(await book.listOccurrences("a", 10, T0 + 1000)).toEqual([]);
      expect(await claim(T0 + 99_000)).toEqual([]);
    });
  });
}

function aSchedule(parts: Partial<NewSchedule> = {}): NewSchedule {
  return {
    id: "s",
    tenant: undefined,
    name: "a schedule",
    timing: { kind: "cron", cron: "0 6 * * *", timeZone: "Europe/Berlin" },
    overlap: "queue",
    catchUp: "all",
    catchUpMost: 7,
    job: { urls: ["https://a.test/"] },
    paused: false,
    createdAt: T0,
    doneUntil: T0,
    nextAt: T0 + 1000,
    ...parts,
  };
}
