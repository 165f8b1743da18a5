/** The workers of this broker, the commands to them, and the tasks that wait on their queues (F6, F22). */
import { type Database, prepareAll, type Row } from "../../runtime/sqlite.ts";
import type { Presence, Vitals, WorkerCommand } from "../frontier.ts";
import { mergeSuspectQueues, type QueueView, type WorkerView } from "../frontier-admin.ts";

type Names = "announce" | "command" | "withdraw" | "forgetLapsed" | "listWorkers" | "listQueues" | "listHolders";

type Fleet = {
  announce(presence: Presence, ttlMs: number): WorkerCommand | undefined;
  command(worker: string, command: WorkerCommand): boolean;
  withdraw(worker: string): void;
  workers(): WorkerView[];
  queues(): QueueView[];
  holders(): { worker: string; leases: number }[];
};

type Deps = { db: Database; now: () => number };

export function createFleet({ db, now }: Deps): Fleet {
  const sql = prepareAll<Names>(db, new URL("./sql/fleet.sql", import.meta.url));
  return {
    announce: ({ worker, queues, unknownSpiders, version, vitals }, ttlMs) =>
      db.write(() => {
        const at = now();
        const [served, unknown] = [JSON.stringify(queues), JSON.stringify(unknownSpiders)];
        sql.forgetLapsed.run(at);
        const own = vitals === undefined ? null : JSON.stringify(vitals);
        const row = sql.announce.get(worker, served, unknown, version, own, at, at + ttlMs);
        return (row?.ordered ?? undefined) as WorkerCommand | undefined;
      }),
    command: (worker, command) => db.write(() => sql.command.get(command, worker, now()) !== undefined),
    withdraw: (worker) => db.write(() => void sql.withdraw.run(worker)),
    workers: () => sql.listWorkers.all(now()).map(toWorkerView),
    queues: () =>
      mergeSuspectQueues(
        sql.listQueues.all().map((row) => ({ queue: row.queue as string, waiting: Number(row.waiting) })),
      ),
    holders: () => sql.listHolders.all().map((row) => ({ worker: row.worker as string, leases: row.leases as number })),
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
    ...(row.ordered === null ? {} : { command: row.ordered as WorkerCommand }),
  };
}
