/**
 * The book of webhooks on PostgreSQL. Each call is one statement, and may be made twice where its answer got lost: then an
 * event of its own looks like another's, and whoever added it reads anew; webhooks that were taken are due again later.
 */
import { readSql } from "../../runtime/sqlite.ts";
import type { Webhook, WebhookBook } from "../webhook-book.ts";
import { newWebhookRow, toWebhook, toWebhookEvent } from "../webhook-rows.ts";
import { arrayOf, type Connection, type PostgresValue } from "./connection.ts";

type Names =
  | "addWebhook"
  | "findWebhook"
  | "takeDue"
  | "addEvent"
  | "listUnqueued"
  | "markQueued"
  | "findEvent"
  | "countEvents"
  | "markDelivered"
  | "noteFailure"
  | "close"
  | "reopen"
  | "leaveRound"
  | "removeWebhooks";

export function createWebhookBook(connection: Connection): WebhookBook {
  const sql = readSql<Names>(new URL("./sql/webhooks.sql", import.meta.url));
  const ask = (name: Names, ...values: PostgresValue[]) => connection.ask(`webhooks.${name}`, sql[name], values);
  const find = async (jobId: string): Promise<Webhook | undefined> =>
    (await ask("findWebhook", jobId)).map(toWebhook)[0];

  return {
    async add(webhook) {
      await ask("addWebhook", ...newWebhookRow(webhook));
      return (await find(webhook.jobId)) as Webhook;
    },
    find,
    takeDue: async (now, againAt, limit) => (await ask("takeDue", now, againAt, limit)).map(toWebhook),
    async addEvent({ jobId, nextEvent, round }, { type, text, madeAt, cursor }) {
      const isEnd = type === "records" ? 0 : 1;
      return (await ask("addEvent", cursor, isEnd, jobId, nextEvent, type, text, madeAt, round)).length > 0;
    },
    listUnqueued: async (jobId, limit) => (await ask("listUnqueued", jobId, limit)).map(({ number }) => Number(number)),
    markQueued: async ({ jobId, round }, numbers) =>
      (await ask("markQueued", jobId, arrayOf(numbers), round)).length > 0,
    findEvent: async (jobId, number) => (await ask("findEvent", jobId, number)).map(toWebhookEvent)[0],
    countEvents: async () => Number((await ask("countEvents"))[0]?.events),
    markDelivered: async (jobId, number, at) => void (await ask("markDelivered", jobId, number, at)),
    noteFailure: async (jobId, at, words) => void (await ask("noteFailure", at, words, jobId)),
    close: async ({ jobId, round }) => void (await ask("close", jobId, round)),
    reopen: async (jobIds, now) => void (await ask("reopen", now, arrayOf(jobIds))),
    leaveRound: async ({ jobId, round }) => void (await ask("leaveRound", jobId, round)),
    remove: async (jobIds) => void (await ask("removeWebhooks", arrayOf(jobIds))),
  };
}
