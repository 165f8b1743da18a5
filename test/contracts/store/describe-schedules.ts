/** The contract of the schedule store. The clauses are in src/store/schedule-store.ts. */
import { beforeEach, describe, expect, it } from "vitest";
import {
  type NewSchedule,
  OCCURRENCES_KEPT,
  type OccurrenceClaim,
  type Schedule,
  type ScheduleStore,
} from "../../../src/store/schedule-store.ts";
import { type ControlStoresFixture, withControlStores } from "./control-stores.ts";

const T0 = 1_800_000_000_000;

export function describeSchedules(name: string, prepare: () => Promise<ControlStoresFixture>): void {
  describe(`schedule store contract on ${name}`, () => {
    const openStores = withControlStores(prepare);
    const open = async () => (await openStores()).schedules;
    let store: ScheduleStore;
    beforeEach(async () => {
      store = await open();
    });

    /** A schedule with occurrences at these offsets from T0. */
    async function withOccurrences(id: string, ...offsets: number[]): Promise<Schedule> {
      await store.add(aSchedule({ id }));
      const occurrences = offsets.map((offset) => ({ at: T0 + offset, kind: "timed" as const }));
      const doneUntil = T0 + Math.max(...offsets);
      expect(await store.advance(await getSchedule(id), { doneUntil, nextAt: doneUntil + 1000 }, occurrences)).toBe(
        true,
      );
      return getSchedule(id);
    }
    async function getSchedule(id: string): Promise<Schedule> {
      const found = await store.find(id);
      if (found === undefined) throw new Error(`no schedule ${id}`);
      return found;
    }
    const claim = (now: number, max = 10) => store.claim({ now, claimMs: 30_000, max });
    async function claimOne(now: number): Promise<OccurrenceClaim> {
      const [first] = await claim(now);
      if (first === undefined) throw new Error("expected an occurrence to claim");
      return first;
    }

    it("keeps a schedule as it was added, and adds an id once", async () => {
      const schedule = aSchedule({
        tenant: "acme",
        nextAt: undefined,
        paused: true,
        job: { urls: ["https://a.test/ü"] },
      });

      expect(await store.add(schedule)).toBe(true);
      expect(await store.add({ ...schedule, name: "another" })).toBe(false);

      expect(await store.find(schedule.id)).toEqual({ ...schedule, version: 1 });
      expect(await store.find("unknown")).toBeUndefined();
    });

    it("lists schedules by id, page by page, of one tenant or of all", async () => {
      for (const id of ["a", "b", "c"]) await store.add(aSchedule({ id, tenant: id === "b" ? "other" : "acme" }));

      const ids = async (...args: Parameters<ScheduleStore["list"]>) => (await store.list(...args)).map(({ id }) => id);

      expect(await ids(undefined, 2, "")).toEqual(["a", "b"]);
      expect(await ids(undefined, 2, "b")).toEqual(["c"]);
      expect(await ids("acme", 10, "")).toEqual(["a", "c"]);
    });

    it("S1 accepts a change only if it names the latest version", async () => {
      await store.add(aSchedule({ id: "a" }));
      const known = await getSchedule("a");

      expect(await store.change({ ...known, name: "new", paused: true, nextAt: undefined })).toBe(true);
      expect(await store.change({ ...known, name: "late" })).toBe(false);
      expect(await store.advance(known, { doneUntil: T0 + 5, nextAt: T0 + 9 }, [{ at: T0 + 1, kind: "timed" }])).toBe(
        false,
      );

      expect(await getSchedule("a")).toEqual({ ...known, name: "new", paused: true, nextAt: undefined, version: 2 });
      expect(await claim(T0 + 10)).toEqual([]);
    });

    it("S2 adds the due occurrences once, however many schedulers advance the schedule concurrently", async () => {
      await store.add(aSchedule({ id: "a", nextAt: T0 + 1 }));
      const handles = [store, await open(), await open()];
      const occurrences = [
        { at: T0 + 1, kind: "timed" as const, skipped: "missed" as const },
        { at: T0 + 2, kind: "timed" as const },
      ];

      const won = await Promise.all(
        handles.map(async (each) => {
          const [due] = await each.listDue(T0 + 2, 10);
          return due !== undefined && each.advance(due.schedule, { doneUntil: T0 + 2, nextAt: T0 + 100 }, occurrences);
        }),
      );

      expect(won.filter((isDone) => isDone)).toHaveLength(1);
      expect(await store.listOccurrences("a", 10, T0 + 1000)).toMatchObject([
        { at: T0 + 2, kind: "timed", state: "waiting", because: undefined },
        { at: T0 + 1, kind: "timed", state: "skipped", because: "missed", endedAt: T0 + 2 },
      ]);
      expect(await store.listDue(T0 + 99, 10)).toEqual([]);
      expect(await store.listDue(T0 + 100, 10)).toMatchObject([
        { schedule: { id: "a", doneUntil: T0 + 2 }, openOccurrences: 1 },
      ]);
    });

    it("lists due schedules, longest due first, and none without a next occurrence", async () => {
      const nexts = { a: T0 + 3, b: T0 + 1, c: undefined, d: T0 + 9 };
      for (const [id, nextAt] of Object.entries(nexts)) await store.add(aSchedule({ id, nextAt }));

      expect((await store.listDue(T0 + 3, 10)).map(({ schedule }) => schedule.id)).toEqual(["b", "a"]);
      expect((await store.listDue(T0 + 3, 1)).map(({ schedule }) => schedule.id)).toEqual(["b"]);
    });

    it("S3 grants an occurrence to one caller, and again with a higher token after the claim expires", async () => {
      await withOccurrences("a", 1);
      const handles = [store, await open(), await open()];

      const claims = (
        await Promise.all(handles.map((each) => each.claim({ now: T0 + 5, claimMs: 10, max: 5 })))
      ).flat();

      expect(claims).toMatchObject([
        { occurrence: { scheduleId: "a", at: T0 + 1, state: "waiting" }, schedule: { id: "a" } },
      ]);
      expect(await claim(T0 + 14)).toEqual([]);
      const again = await claimOne(T0 + 15);
      expect(again.token).toBeGreaterThan(claims[0]?.token ?? Infinity);
    });

    it("S4 grants the occurrences of a schedule in order, each after the previous one has ended", async () => {
      await withOccurrences("a", 1, 2);
      await withOccurrences("b", 3);

      const first = await claim(T0 + 5);
      expect(first.map(({ occurrence }) => [occurrence.scheduleId, occurrence.at - T0]).sort()).toEqual([
        ["a", 1],
        ["b", 3],
      ]);
      const one = first.find(({ occurrence }) => occurrence.scheduleId === "a") as OccurrenceClaim;
      expect(await claim(T0 + 6)).toEqual([]);
      await store.release(one, T0 + 20, "waits");
      expect(await store.findOccurrence(one.occurrence)).toMatchObject({ state: "waiting", because: "waits" });
      expect(await claim(T0 + 19)).toEqual([]);
      const same = await claimOne(T0 + 20);
      expect(same.occurrence.at).toBe(T0 + 1);
      await store.settle(same, { state: "skipped", because: "overlap" }, T0 + 21);
      expect(
        (await store.claim({ now: T0 + 22, claimMs: 5, max: 1, scheduleId: "a" })).map(
          ({ occurrence }) => occurrence.at,
        ),
      ).toEqual([T0 + 2]);
      expect(await store.claim({ now: T0 + 22, claimMs: 5, max: 1, scheduleId: "b" })).toEqual([]);
    });

    it("S5 refuses calls with a claim that has passed to another holder", async () => {
      await withOccurrences("a", 1);
      const late = await claimOne(T0 + 5);
      const holder = await claimOne(T0 + 40_000);

      expect(await store.decide(late)).toBe(false);
      expect(await store.settle(late, { state: "skipped", because: "overlap" }, T0)).toBe(false);
      await store.release(late, T0, "late");
      expect(await claim(T0 + 40_001)).toEqual([]);

      expect(await store.decide(holder)).toBe(true);
      expect(await store.settle(late, { state: "fired", jobId: "x" }, T0)).toBe(false);
      expect(await store.settle(holder, { state: "fired", jobId: "job" }, T0 + 40_002)).toBe(true);
      expect(await store.findOccurrence(holder.occurrence)).toMatchObject({
        state: "fired",
        jobId: "job",
        endedAt: T0 + 40_002,
      });
    });

    it("S6 never skips a decided occurrence, fires no undecided one, and does not change an ended one", async () => {
      await withOccurrences("a", 1);
      const first = await claimOne(T0 + 5);
      expect(await store.settle(first, { state: "fired", jobId: "early" }, T0)).toBe(false);
      expect(await store.decide(first)).toBe(true);
      expect(await store.decide(first)).toBe(true); // repeated, as after a lost reply
      expect(await store.settle(first, { state: "skipped", because: "overlap" }, T0)).toBe(false);

      const next = await claimOne(T0 + 50_000);

      expect(next.occurrence.state).toBe("firing");
      expect(await store.settle(next, { state: "failed", because: "no such spider" }, T0 + 50_001)).toBe(true);
      expect(await store.settle(next, { state: "fired", jobId: "job" }, T0)).toBe(false);
      expect(await store.decide(next)).toBe(false);
      expect(await store.findOccurrence(next.occurrence)).toMatchObject({
        state: "failed",
        because: "no such spider",
        jobId: undefined,
      });
    });

    it("finds the latest fired occurrence before a given one", async () => {
      await withOccurrences("a", 1, 2, 3);
      for (const now of [T0 + 10, T0 + 11, T0 + 12]) {
        const held = await claimOne(now);
        if (held.occurrence.at === T0 + 2) await store.settle(held, { state: "skipped", because: "overlap" }, now);
        else if (await store.decide(held))
          await store.settle(held, { state: "fired", jobId: `job ${held.occurrence.at - T0}` }, now);
      }

      const jobBefore = async (offset: number) =>
        (await store.findFiredBefore({ scheduleId: "a", at: T0 + offset, kind: "timed" }))?.jobId;

      expect([await jobBefore(1), await jobBefore(3), await jobBefore(4)]).toEqual([undefined, "job 1", "job 3"]);
    });

    it("removes the oldest ended occurrences, but neither the last fired one nor any that waits", async () => {
      await withOccurrences("a", 1, 2);
      const held = await claimOne(T0 + 5);
      await store.decide(held);
      await store.settle(held, { state: "fired", jobId: "job" }, T0 + 5);
      const missed = (from: number, count: number) =>
        Array.from({ length: count }, (_, n) => ({
          at: T0 + from + n,
          kind: "timed" as const,
          skipped: "missed" as const,
        }));

      await store.advance(
        await getSchedule("a"),
        { doneUntil: T0 + 5_000, nextAt: undefined },
        missed(100, OCCURRENCES_KEPT),
      );
      await store.advance(await getSchedule("a"), { doneUntil: T0 + 9_000, nextAt: undefined }, missed(6_000, 10));

      const occurrences = await store.listOccurrences("a", 5_000, T0 + 10_000);
      expect(occurrences.slice(-3).map(({ at, state }) => [at - T0, state])).toEqual([
        [109, "skipped"],
        [2, "waiting"],
        [1, "fired"],
      ]);
    });

    it("removes a schedule with its occurrences, and makes its claims invalid", async () => {
      await withOccurrences("a", 1);
      const held = await claimOne(T0 + 5);

      expect(await store.remove("a")).toBe(true);

      expect(await store.remove("a")).toBe(false);
      expect(await store.decide(held)).toBe(false);
      expect(await store.listOccurrences("a", 10, T0 + 1000)).toEqual([]);
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
    maxCatchUp: 7,
    job: { urls: ["https://a.test/"] },
    paused: false,
    createdAt: T0,
    doneUntil: T0,
    nextAt: T0 + 1000,
    ...parts,
  };
}
