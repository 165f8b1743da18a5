/** The book of webhooks in a store's file. Called by every worker and API instance; each call is one transaction. */
import { type Database, prepareAll } from "../../runtime/sqlite.ts";
import type { NewEvent, Webhook, WebhookBook } from "../webhook-book.ts";
import { newWebhookRow, toWebhook, toWebhookEvent } from "../webhook-rows.ts";
import type { RunCall } from "./key-book.ts";

type Names =
  | "addWebhook"
  | "findWebhook"
  | "findDue"
  | "putOff"
  | "moveCursor"
  | "addEvent"
  | "listUnqueued"
  | "markQueued"
  | "findEvent"
  | "countEvents"
  | "dropEvent"
  | "countDelivery"
  | "noteFailure"
  | "close"
  | "reopen"
  | "leaveRound"
  | "dropEvents"
  | "dropWebhook";

export function createWebhookBook(db: Database, run: RunCall): WebhookBook {
  const sql = prepareAll<Names>(db, new URL("./sql/webhooks.sql", import.meta.url));

  function find(jobId: string): Webhook | undefined {
    const row = sql.findWebhook.get(jobId);
    return row === undefined ? undefined : toWebhook(row);
  }

  function addEvent({ jobId, nextEvent, round }: Webhook, { type, text, madeAt, cursor }: NewEvent): boolean {
    return db.write(() => {
      const isEnd = type === "records" ? 0 : 1;
      if (sql.moveCursor.run(cursor, isEnd, jobId, nextEvent, round).changes === 0) return false;
      sql.addEvent.run(jobId, nextEvent, type, text, madeAt);
      return true;
    });
  }

  function takeDue(now: number, againAt: number, limit: number): Webhook[] {
    if (sql.findDue.get(now, 1) === undefined) return []; // the usual case, without the write lock
    return db.write(() => {
      const due = sql.findDue.all(now, limit).map(toWebhook);
      for (const { jobId } of due) sql.putOff.run(againAt, jobId);
      return due.map((webhook) => ({ ...webhook, lookAt: againAt }));
    });
  }

  return {
    add: (webhook) =>
      run("webhooks.add", () =>
        db.write(() => {
          sql.addWebhook.run(...newWebhookRow(webhook));
          return find(webhook.jobId) as Webhook;
        }),
      ),
    find: (jobId) => run("webhooks.find", () => find(jobId)),
    takeDue: (now, againAt, limit) => run("webhooks.takeDue", () => takeDue(now, againAt, limit)),
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
    noteFailure: (jobId, at, words) => run("webhooks.noteFailure", () => void sql.noteFailure.run(at, words, jobId)),
    close: ({ jobId, round }) => run("webhooks.close", () => void sql.close.run(jobId, round)),
    reopen: (jobIds, now) =>
      run("webhooks.reopen", () =>
        db.write(() => {
          for (const jobId of jobIds) sql.reopen.run(now, jobId);
        }),
      ),
    leaveRound: ({ jobId, round }) => run("webhooks.leaveRound", () => void sql.leaveRound.run(jobId, round)),
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
