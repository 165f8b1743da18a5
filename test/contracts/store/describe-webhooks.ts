/** The contract of the webhook store. The clauses are in src/store/webhook-store.ts. */
import { beforeEach, describe, expect, it } from "vitest";
import type { NewEvent, NewWebhook, Webhook, WebhookStore } from "../../../src/store/webhook-store.ts";
import { type ControlStoresFixture, withControlStores } from "./control-stores.ts";

const T0 = 1_800_000_000_000;

export function describeWebhooks(name: string, prepare: () => Promise<ControlStoresFixture>): void {
  describe(`webhook store contract on ${name}`, () => {
    const openStores = withControlStores(prepare);
    const open = async () => (await openStores()).webhooks;
    let store: WebhookStore;
    beforeEach(async () => {
      store = await open();
    });

    async function getWebhook(jobId: string): Promise<Webhook> {
      const found = await store.find(jobId);
      if (found === undefined) throw new Error(`no webhook of ${jobId}`);
      return found;
    }
    const claimIds = async (now: number, limit = 10) =>
      (await store.claimDue(now, now + 1_000, limit)).map(({ jobId }) => jobId).sort();

    it("W1 stores one webhook per job, and returns the first one to later callers", async () => {
      const added = await store.add(aWebhook("j1", { secret: "whsec_first" }));

      expect(added).toEqual({
        ...aWebhook("j1", { secret: "whsec_first" }),
        ...{ cursor: 0, nextEvent: 1, hasEnd: false, round: 1, nextCheckAt: T0, delivered: 0 },
        ...{ lastDeliveredAt: undefined, lastFailure: undefined },
      });
      expect(await store.add(aWebhook("j1", { secret: "whsec_second", endpoint: "https://b.test/" }))).toEqual(added);
      expect(await store.find("j2")).toBeUndefined();
    });

    it("W1 returns the same secret to all concurrent callers", async () => {
      const handles = [store, await open(), await open()];

      const added = await Promise.all(handles.map((each, nth) => each.add(aWebhook("j1", { secret: `whsec_${nth}` }))));

      expect(new Set(added.map(({ secret }) => secret)).size).toBe(1);
    });

    it("W2 adds an event and moves the cursor in one transaction, once, however many callers try", async () => {
      await store.add(aWebhook("j1"));
      const known = await getWebhook("j1");
      const handles = [store, await open(), await open()];

      const won = await Promise.all(handles.map((each, nth) => each.addEvent(known, anEvent({ text: `by ${nth}` }))));

      expect(won.filter((isDone) => isDone)).toHaveLength(1);
      expect(await getWebhook("j1")).toMatchObject({ cursor: 7, nextEvent: 2, hasEnd: false });
      const event = await store.findEvent("j1", 1);
      expect(event).toEqual({
        ...{ jobId: "j1", number: 1, type: "records", madeAt: T0 },
        text: `by ${won.indexOf(true)}`,
      });
      expect(await store.findEvent("j1", 2)).toBeUndefined();
    });

    it("W2 refuses events after the end", async () => {
      await store.add(aWebhook("j1"));
      expect(await store.addEvent(await getWebhook("j1"), anEvent({ type: "job.finished" }))).toBe(true);

      expect(await store.addEvent(await getWebhook("j1"), anEvent())).toBe(false);
      expect(await store.addEvent(await getWebhook("j1"), anEvent({ type: "job.failed" }))).toBe(false);

      expect(await getWebhook("j1")).toMatchObject({ hasEnd: true, nextEvent: 2 });
    });

    it("W3 lists events until they are queued, and keeps their exact text until they are delivered", async () => {
      await store.add(aWebhook("j1"));
      const text = JSON.stringify({ odd: '\u0000 "ü" \\ \ud800 𝄞 {}' });
      for (let nth = 0; nth < 3; nth += 1) await store.addEvent(await getWebhook("j1"), anEvent({ text }));

      expect(await store.listUnqueued("j1", 2)).toEqual([1, 2]);
      expect(await store.markQueued(await getWebhook("j1"), [1, 3])).toBe(true);
      expect(await store.listUnqueued("j1", 10)).toEqual([2]);
      expect(await store.listUnqueued("other", 10)).toEqual([]);

      expect((await store.findEvent("j1", 3))?.text).toBe(text);
      expect(await store.countEvents()).toBe(3);
      await store.markDelivered("j1", 3, T0 + 1);
      expect(await store.findEvent("j1", 3)).toBeUndefined();
      expect(await store.countEvents()).toBe(2);
    });

    it("W4 counts a delivery once", async () => {
      await store.add(aWebhook("j1"));
      await store.addEvent(await getWebhook("j1"), anEvent());
      const handles = [store, await open(), await open()];

      await Promise.all(handles.map((each) => each.markDelivered("j1", 1, T0 + 5)));

      expect(await getWebhook("j1")).toMatchObject({ delivered: 1, lastDeliveredAt: T0 + 5 });
    });

    it("W5 grants a due webhook to one of many callers, and again when it is due the next time", async () => {
      for (const id of ["j1", "j2", "j3"]) await store.add(aWebhook(id));
      const handles = [store, await open(), await open()];

      const taken = await Promise.all(handles.map((each) => each.claimDue(T0, T0 + 1_000, 2)));

      expect(taken.flat().length).toBeGreaterThanOrEqual(2);
      const jobs = [...taken.flat().map(({ jobId }) => jobId), ...(await claimIds(T0))].sort();
      expect(jobs).toEqual(["j1", "j2", "j3"]);
      expect(await claimIds(T0 + 999)).toEqual([]);
      expect(await claimIds(T0 + 1_000)).toEqual(["j1", "j2", "j3"]);
    });

    it("W6 never grants a closed webhook until its job runs again", async () => {
      await store.add(aWebhook("j1"));
      await store.addEvent(await getWebhook("j1"), anEvent({ type: "job.finished" }));
      await store.close(await getWebhook("j1"));
      expect(await claimIds(T0 + 1_000_000)).toEqual([]);

      await store.reopen(["j1", "unknown"], T0 + 5);

      expect(await getWebhook("j1")).toMatchObject({ round: 2, hasEnd: false, nextEvent: 2, nextCheckAt: T0 + 5 });
      expect(await claimIds(T0 + 5)).toEqual(["j1"]);
      expect(await store.addEvent(await getWebhook("j1"), anEvent({ type: "job.finished" }))).toBe(true);
    });

    it("W7 ignores changes that are based on an earlier round, even if that round was not closed", async () => {
      await store.add(aWebhook("j1"));
      await store.addEvent(await getWebhook("j1"), anEvent());
      const early = await getWebhook("j1");
      await store.reopen(["j1"], T0 + 5);
      const opened = await getWebhook("j1");
      expect(opened).toEqual({ ...early, round: 2, nextCheckAt: T0 + 5 });

      expect(await store.addEvent(early, anEvent({ type: "job.finished" }))).toBe(false);
      expect(await store.addEvent(early, anEvent())).toBe(false);
      expect(await store.markQueued(early, [1])).toBe(false);
      await store.advanceRound(early);
      await store.close(early);

      expect(await getWebhook("j1")).toEqual(opened);
      expect(await store.listUnqueued("j1", 10)).toEqual([1]);
      expect(await store.addEvent(opened, anEvent({ type: "job.finished" }))).toBe(true);
    });

    it("W7 advances a round once, and changes nothing else", async () => {
      await store.add(aWebhook("j1"));
      await store.addEvent(await getWebhook("j1"), anEvent({ type: "job.finished" }));
      const known = await getWebhook("j1");

      await Promise.all([store, await open(), await open()].map((each) => each.advanceRound(known)));

      expect(await getWebhook("j1")).toEqual({ ...known, round: 2 });
    });

    it("records the latest failure, and removes a webhook with its events", async () => {
      await store.add(aWebhook("j1"));
      await store.addEvent(await getWebhook("j1"), anEvent());
      await store.recordFailure("j1", T0 + 3, "answered 500");
      expect((await getWebhook("j1")).lastFailure).toEqual({ at: T0 + 3, message: "answered 500" });

      await store.remove(["j1", "unknown"]);

      expect(await store.find("j1")).toBeUndefined();
      expect(await store.findEvent("j1", 1)).toBeUndefined();
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
