/** Who works on this broker, what waits for them, and whether the file itself is fit for it (F6, F16). */
import { type Database, prepareAll, type Row } from "../../runtime/sqlite.ts";
import { fileFailure, type NamedFile } from "../../runtime/sqlite-failure.ts";
import { foldQueues } from "../fold-queues.ts";
import type { Presence, Vitals, WorkerOrder } from "../frontier.ts";
import type { Finding, QueueView, WorkerView } from "../frontier-admin.ts";

type Names =
  | "announce"
  | "order"
  | "withdraw"
  | "forgetLapsed"
  | "listWorkers"
  | "listQueues"
  | "schemaVersion"
  | "journalMode";

export type Fleet = {
  announce(presence: Presence, ttlMs: number): WorkerOrder | undefined;
  order(worker: string, order: WorkerOrder): boolean;
  withdraw(worker: string): void;
  workers(): WorkerView[];
  queues(): QueueView[];
  examine(): Finding[];
};

type Deps = { db: Database; file: NamedFile; now: () => number };

export function createFleet({ db, file, now }: Deps): Fleet {
  const sql = prepareAll<Names>(db, new URL("./sql/fleet.sql", import.meta.url));

  function writable(): Finding {
    try {
      db.write(() => {});
      return { check: "broker file", verdict: "ok", says: `${file.path} can be read and written` };
    } catch (error) {
      const cause = fileFailure(file, "frontier.examine", error);
      const says = cause instanceof Error ? cause.message : String(cause);
      const fix = "give this user the right to write the file and its folder, and the disk some space";
      return { check: "broker file", verdict: "problem", says, fix };
    }
  }

  function journal(): Finding {
    const mode = String(sql.journalMode.get()?.answer);
    const check = "broker log";
    if (mode === "wal")
      return { check, verdict: "ok", says: "readers and the writer do not wait for each other (WAL)" };
    const fix = "move the file to a local disk: network disks cannot share a log between processes";
    return {
      check,
      verdict: "problem",
      says: `its journal is ${mode}, not wal: processes would block each other`,
      fix,
    };
  }

  return {
    announce: ({ worker, queues, unknownSpiders, version, vitals }, ttlMs) =>
      db.write(() => {
        const at = now();
        const [served, unknown] = [JSON.stringify(queues), JSON.stringify(unknownSpiders)];
        sql.forgetLapsed.run(at);
        const own = vitals === undefined ? null : JSON.stringify(vitals);
        const row = sql.announce.get(worker, served, unknown, version, own, at, at + ttlMs);
        return (row?.ordered ?? undefined) as WorkerOrder | undefined;
      }),
    order: (worker, order) => db.write(() => sql.order.get(order, worker, now()) !== undefined),
    withdraw: (worker) => db.write(() => void sql.withdraw.run(worker)),
    workers: () => sql.listWorkers.all(now()).map(toWorkerView),
    queues: () =>
      foldQueues(sql.listQueues.all().map((row) => ({ queue: row.queue as string, waiting: Number(row.waiting) }))),
    examine: () => [
      writable(),
      // Opening has refused a newer one and brought an older one up.
      {
        check: "broker version",
        verdict: "ok",
        says: `schema ${sql.schemaVersion.get()?.answer}, which this Trawl knows`,
      },
      journal(),
    ],
  };
}

function toWorkerView(row: Row): WorkerView {
  return {
    worker: row.name as string,
    queues: JSON.parse(row.queues as string) as string[],
    unknownSpiders: JSON.parse(row.unknown_spiders as string) as string[],
    version: row.version as string,
    ...(row.vitals === null ? {} : { vitals: JSON.parse(row.vitals as string) as Vitals }),
    seenAt: row.seen_at as number,
    ...(row.ordered === null ? {} : { order: row.ordered as WorkerOrder }),
  };
}
