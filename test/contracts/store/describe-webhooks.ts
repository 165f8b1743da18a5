/** The contract of the book of webhooks; clauses are in src/store/webhook-store.ts. */
import { beforeEach, describe, expect, it } from "vitest";
import type { NewEvent, NewWebhook, Webhook, WebhookStore } from "../../../src/store/webhook-store.ts";
import { type ControlStoresSite, withControlStores } from "./control-stores.ts";

const T0 = 1_800_000_000_000;

export function describeWebhooks(name: string, prepare: () => Promise<ControlStoresSite>): void {
  describe(`the book of webhooks on ${name}`, () => {
    const openBooks = withControlStores(prepare);
    const open = async () => (await openBooks()).webhooks;
    let book: WebhookStore;
    beforeEach(async () => {
      book = await open();
    });

    async function got(jobId: string): Promise<Webhook> {
      const found = await book.find(jobId);
      if (found === undefined) throw new Error(`no webhook of ${jobId}`);
      return found;
    }
    const take = async (now: number, limit = 10) =>
      (await book.claimDue(now, now + 1_000, limit)).map(({ jobId }) => jobId).sort();

    it("W1 keeps one webhook a job, and tells the second who comes what the first one said", async () => {
      const added = await book.add(aWebhook("j1", { secret: "whsec_first" }));

      expect(added).toEqual({
        ...aWebhook("j1", { secret: "whsec_first" }),
        ...{ cursor: 0, nextEvent: 1, hasEnd: false, round: 1, nextCheckAt: T0, delivered: 0 },
        ...{ lastDeliveredAt: undefined, lastFailure: undefined },
      });
      expect(await book.add(aWebhook("j1", { secret: "whsec_second", endpoint: "https://b.test/" }))).toEqual(added);
      expect(await book.find("j2")).toBeUndefined();
    });

    it("W1 answers all who add at once with one secret", async () => {
      const books = [book, await open(), await open()];

      const added = await Promise.all(books.map((each, nth) => each.add(aWebhook("j1", { secret: `whsec_${nth}` }))));

      expect(new Set(added.map(({ secret }) => secret)).size).toBe(1);
    });

    it("W2 adds an event and moves the cursor in one step, once, however many try", async () => {
      await book.add(aWebhook("j1"));
      const known = await got("j1");
      const books = [book, await open(), await open()];

      const won = await Promise.all(books.map((each, nth) => each.addEvent(known, anEvent({ text: `by ${nth}` }))));

      expect(won.filter((isDone) => isDone)).toHaveLength(1);
      expect(await got("j1")).toMatchObject({ cursor: 7, nextEvent: 2, hasEnd: false });
      const told = await book.findEvent("j1", 1);
      expect(told).toEqual({
        ...{ jobId: "j1", number: 1, type: "records", madeAt: T0 },
        text: `by ${won.indexOf(true)}`,
      });
      expect(await book.findEvent("j1", 2)).toBeUndefined();
    });

    it("W2 takes no event after the end", async () => {
      await book.add(aWebhook("j1"));
      expect(await book.addEvent(await got("j1"), anEvent({ type: "job.finished" }))).toBe(true);

      expect(await book.addEvent(await got("j1"), anEvent())).toBe(false);
      expect(await book.addEvent(await got("j1"), anEvent({ type: "job.failed" }))).toBe(false);

      expect(await got("j1")).toMatchObject({ hasEnd: true, nextEvent: 2 });
    });

    it("W3 lists what is to be queued until it is, and keeps every letter until it is delivered", async () => {
      await book.add(aWebhook("j1"));
      const text = JSON.stringify({ odd: '\u0000 "ü" \\ \ud800 𝄞 {}' });
      for (let nth = 0; nth < 3; nth += 1) await book.addEvent(await got("j1"), anEvent({ text }));

      expect(await book.listUnqueued("j1", 2)).toEqual([1, 2]);
      expect(await book.markQueued(await got("j1"), [1, 3])).toBe(true);
      expect(await book.listUnqueued("j1", 10)).toEqual([2]);
      expect(await book.listUnqueued("other", 10)).toEqual([]);

      expect((await book.findEvent("j1", 3))?.text).toBe(text);
      expect(await book.countEvents()).toBe(3);
      await book.markDelivered("j1", 3, T0 + 1);
      expect(await book.findEvent("j1", 3)).toBeUndefined();
      expect(await book.countEvents()).toBe(2);
    });

    it("W4 counts a delivery once", async () => {
      await book.add(aWebhook("j1"));
      await book.addEvent(await got("j1"), anEvent());
      const books = [book, await open(), await open()];

      await Promise.all(books.map((each) => each.markDelivered("j1", 1, T0 + 5)));

      expect(await got("j1")).toMatchObject({ delivered: 1, lastDeliveredAt: T0 + 5 });
    });

    it("W5 gives a webhook that is due to one of many, and again when its time has come", async () => {
      for (const id of ["j1", "j2", "j3"]) await book.add(aWebhook(id));
      const books = [book, await open(), await open()];

      const taken = await Promise.all(books.map((each) => each.claimDue(T0, T0 + 1_000, 2)));

      expect(taken.flat().length).toBeGreaterThanOrEqual(2);
      const jobs = [...taken.flat().map(({ jobId }) => jobId), ...(await take(T0))].sort();
      expect(jobs).toEqual(["j1", "j2", "j3"]);
      expect(await take(T0 + 999)).toEqual([]);
      expect(await take(T0 + 1_000)).toEqual(["j1", "j2", "j3"]);
    });

    it("W6 never gives out a closed one, until its job runs again", async () => {
      await book.add(aWebhook("j1"));
      await book.addEvent(await got("j1"), anEvent({ type: "job.finished" }));
      await book.close(await got("j1"));
      expect(await take(T0 + 1_000_000)).toEqual([]);

      await book.reopen(["j1", "nobody"], T0 + 5);

      expect(await got("j1")).toMatchObject({ round: 2, hasEnd: false, nextEvent: 2, nextCheckAt: T0 + 5 });
      expect(await take(T0 + 5)).toEqual(["j1"]);
      expect(await book.addEvent(await got("j1"), anEvent({ type: "job.finished" }))).toBe(true);
    });

    it("W7 has what was known of a round change nothing in the next, though it was open when that began", async () => {
      await book.add(aWebhook("j1"));
      await book.addEvent(await got("j1"), anEvent());
      const early = await got("j1");
      await book.reopen(["j1"], T0 + 5);
      const opened = await got("j1");
      expect(opened).toEqual({ ...early, round: 2, nextCheckAt: T0 + 5 });

      expect(await book.addEvent(early, anEvent({ type: "job.finished" }))).toBe(false);
      expect(await book.addEvent(early, anEvent())).toBe(false);
      expect(await book.markQueued(early, [1])).toBe(false);
      await book.advanceRound(early);
      await book.close(early);

      expect(await got("j1")).toEqual(opened);
      expect(await book.listUnqueued("j1", 10)).toEqual([1]);
      expect(await book.addEvent(opened, anEvent({ type: "job.finished" }))).toBe(true);
    });

    it("W7 leaves a round once, with all else as it was", async () => {
      await book.add(aWebhook("j1"));
      await book.addEvent(await got("j1"), anEvent({ type: "job.finished" }));
      const known = await got("j1");

      await Promise.all([book, await open(), await open()].map((each) => each.advanceRound(known)));

      expect(await got("j1")).toEqual({ ...known, round: 2 });
    });

    it("notes the latest failure, and removes a webhook with its events", async () => {
      await book.add(aWebhook("j1"));
      await book.addEvent(await got("j1"), anEvent());
      await book.recordFailure("j1", T0 + 3, "answered 500");
      expect((await got("j1")).lastFailure).toEqual({ at: T0 + 3, message: "answered 500" });

      await book.remove(["j1", "nobody"]);

      expect(await book.find("j1")).toBeUndefined();
      expect(await book.findEvent("j1", 1)).toBeUndefined();
    });
  });
}

function aWebhook(jobId: string, more: Partial<NewWebhook> = {}): NewWebhook {
  return {
    ...{ jobId, endpoint: "https://a.test/hook?x=1", secret: "whsec_c2VjcmV0", queue: "deliver" },
    ...{ events: ["job.finished", "records"], batchRecords: 100, createdAt: T0 },
    ...more,
  };
}

function anEvent(more: Partial<NewEvent> = {}): NewEvent {
  return { type: "records", text: "{}", madeAt: T0, cursor: 7, ...more };
}
