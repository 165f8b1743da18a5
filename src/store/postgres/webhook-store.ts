/**
 * Webhooks in PostgreSQL. Each statement is one transaction, and is sent again if its answer was lost. If `addEvent`
 * took effect but its answer was lost, the retry returns false, as if another process had added the event. The caller
 * then reads the webhook again. If the answer of `claimDue` is lost, no caller receives those webhooks; they are due
 * again at `againAt`.
 */
import { readSql } from "../../runtime/sqlite.ts";
import { newWebhookRow, toWebhook, toWebhookEvent } from "../webhook-rows.ts";
import type { Webhook, WebhookStore } from "../webhook-store.ts";
import { encodeArray, type PostgresConnection, type PostgresValues } from "./connection.ts";

type Names =
  | "addWebhook"
  | "findWebhook"
  | "claimDue"
  | "addEvent"
  | "listUnqueued"
  | "markQueued"
  | "findEvent"
  | "countEvents"
  | "markDelivered"
  | "recordFailure"
  | "close"
  | "reopen"
  | "advanceRound"
  | "removeWebhooks";

export function createWebhookStore(connection: PostgresConnection): WebhookStore {
  const sql = readSql<Names>(new URL("./sql/webhooks.sql", import.meta.url));
  const query = (name: Names, values: PostgresValues) => connection.query(`webhooks.${name}`, sql[name], values);
  const find = async (jobId: string): Promise<Webhook | undefined> =>
    (await query("findWebhook", [jobId])).map(toWebhook)[0];

  return {
    async add(webhook) {
      await query("addWebhook", newWebhookRow(webhook));
      return (await find(webhook.jobId)) as Webhook;
    },
    find,
    claimDue: async (now, againAt, limit) => (await query("claimDue", [now, againAt, limit])).map(toWebhook),
    async addEvent({ jobId, nextEvent, round }, { type, text, madeAt, cursor }) {
      const isEnd = type === "records" ? 0 : 1;
      return (await query("addEvent", { cursor, isEnd, jobId, nextEvent, type, text, madeAt, round })).length > 0;
    },
    listUnqueued: async (jobId, limit) =>
      (await query("listUnqueued", [jobId, limit])).map(({ number }) => Number(number)),
    markQueued: async ({ jobId, round }, numbers) =>
      (await query("markQueued", [jobId, encodeArray(numbers), round])).length > 0,
    findEvent: async (jobId, number) => (await query("findEvent", [jobId, number])).map(toWebhookEvent)[0],
    countEvents: async () => Number((await query("countEvents", []))[0]?.events),
    markDelivered: async (jobId, number, at) => void (await query("markDelivered", [jobId, number, at])),
    recordFailure: async (jobId, at, message) => void (await query("recordFailure", [at, message, jobId])),
    close: async ({ jobId, round }) => void (await query("close", [jobId, round])),
    reopen: async (jobIds, now) => void (await query("reopen", [now, encodeArray(jobIds)])),
    advanceRound: async ({ jobId, round }) => void (await query("advanceRound", [jobId, round])),
    remove: async (jobIds) => void (await query("removeWebhooks", [encodeArray(jobIds)])),
  };
}
