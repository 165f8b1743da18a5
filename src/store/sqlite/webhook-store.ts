/** Webhooks in SQLite. Every worker and API instance calls it; each call is one transaction. */
import { type Database, prepareAll } from "../../runtime/sqlite.ts";
import type { RunOnFile } from "../../runtime/sqlite-errors.ts";
import { newWebhookRow, toWebhook, toWebhookEvent } from "../webhook-rows.ts";
import type { NewEvent, Webhook, WebhookStore } from "../webhook-store.ts";

type Names =
  | "addWebhook"
  | "findWebhook"
  | "findDue"
  | "setNextCheck"
  | "moveCursor"
  | "addEvent"
  | "listUnqueued"
  | "markQueued"
  | "findEvent"
  | "countEvents"
  | "dropEvent"
  | "countDelivery"
  | "recordFailure"
  | "close"
  | "reopen"
  | "advanceRound"
  | "dropEvents"
  | "dropWebhook";

export function createWebhookStore(db: Database, run: RunOnFile): WebhookStore {
  const sql = prepareAll<Names>(db, new URL("./sql/webhooks.sql", import.meta.url));

  function find(jobId: string): Webhook | undefined {
    const row = sql.findWebhook.get(jobId);
    return row === undefined ? undefined : toWebhook(row);
  }

  function addEvent({ jobId, nextEvent, round }: Webhook, { type, text, madeAt, cursor }: NewEvent): boolean {
    return db.write(() => {
      const isEnd = type === "records" ? 0 : 1;
      if (sql.moveCursor.run({ cursor, isEnd, jobId, nextEvent, round }).changes === 0) return false;
      sql.addEvent.run({ jobId, number: nextEvent, type, text, madeAt });
      return true;
    });
  }

  function claimDue(now: number, againAt: number, limit: number): Webhook[] {
    if (sql.findDue.get(now, 1) === undefined) return []; // usually none is due, and no write lock is needed
    return db.write(() => {
      const due = sql.findDue.all(now, limit).map(toWebhook);
      for (const { jobId } of due) sql.setNextCheck.run(againAt, jobId);
      return due.map((webhook) => ({ ...webhook, nextCheckAt: againAt }));
    });
  }

  return {
    add: (webhook) =>
      run("webhooks.add", () =>
        db.write(() => {
          sql.addWebhook.run(newWebhookRow(webhook));
          return find(webhook.jobId) as Webhook;
        }),
      ),
    find: (jobId) => run("webhooks.find", () => find(jobId)),
    claimDue: (now, againAt, limit) => run("webhooks.claimDue", () => claimDue(now, againAt, limit)),
    addEvent: (known, event) => run("webhooks.addEvent", () => addEvent(known, event)),
    listUnqueued: (jobId, limit) =>
      run("webhooks.listUnqueued", () => sql.listUnqueued.all(jobId, limit).map(({ number }) => Number(number))),
    markQueued: ({ jobId, round }, numbers) =>
      run("webhooks.markQueued", () =>
        db.write(() => {
          const marked = numbers.map((number) => Number(sql.markQueued.run(jobId, number, round).changes));
          return marked.some((rows) => rows > 0);
        }),
      ),
    findEvent: (jobId, number) =>
      run("webhooks.findEvent", () => {
        const row = sql.findEvent.get(jobId, number);
        return row === undefined ? undefined : toWebhookEvent(row);
      }),
    countEvents: () => run("webhooks.countEvents", () => Number(sql.countEvents.get()?.events)),
    markDelivered: (jobId, number, at) =>
      run("webhooks.markDelivered", () =>
        db.write(() => {
          if (sql.dropEvent.run(jobId, number).changes !== 0) sql.countDelivery.run(at, jobId);
        }),
      ),
    recordFailure: (jobId, at, message) =>
      run("webhooks.recordFailure", () => void sql.recordFailure.run(at, message, jobId)),
    close: ({ jobId, round }) => run("webhooks.close", () => void sql.close.run(jobId, round)),
    reopen: (jobIds, now) =>
      run("webhooks.reopen", () =>
        db.write(() => {
          for (const jobId of jobIds) sql.reopen.run(now, jobId);
        }),
      ),
    advanceRound: ({ jobId, round }) => run("webhooks.advanceRound", () => void sql.advanceRound.run(jobId, round)),
    remove: (jobIds) =>
      run("webhooks.remove", () =>
        db.write(() => {
          for (const jobId of jobIds) {
            sql.dropEvents.run(jobId);
            sql.dropWebhook.run(jobId);
          }
        }),
      ),
  };
}
