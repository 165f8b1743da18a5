/**
 * What the requests of a job through exits have cost, and its budget: one shared value per job.
 *
 * The exit client asks `mayUse` before each request through a fallback. A process takes requests from the budget
 * in small batches, with a compare-and-set in the broker, so all processes together never send more than the budget. If
 * a process crashes, the requests that it took and did not send are lost. The costs are written like the health of
 * exits: every `flushMs`, not with every request.
 */
import type { JobSpending, Spent } from "../../domain/exit.ts";
import type { Frontier } from "../../frontier/frontier.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Log } from "../../runtime/log.ts";

type Values = Pick<Frontier, "findValue" | "keepValue">;
type Deps = { values: Values; clock: Clock; log: Log };

export type Spending = {
  /** Takes one request from the budget. False if it is used up. */
  mayUse(jobId: string, budget: number): Promise<boolean>;
  record(jobId: string, provider: string, spent: Pick<Spent, "bytes" | "cost">): void;
  /** Never rejects. */
  flush(): Promise<void>;
  close(): Promise<void>;
};

const KEPT_MS = 30 * 24 * 3_600_000;
const MAX_WRITES = 20;
/** A process takes this share of the budget at once, and at most BATCH_MAX requests. */
const BATCH_SHARE = 0.01;
const BATCH_MAX = 20;
const MAX_PROVIDERS = 50;

export function createSpending({ values, clock, log }: Deps, { flushMs }: { flushMs: number }): Spending {
  const reserves = new Map<string, number>();
  const unwritten = new Map<string, Record<string, Spent>>();
  const stopping = new AbortController();
  let timer: Promise<void> | undefined;
  let taking: Promise<unknown> = Promise.resolve();

  async function take(jobId: string, budget: number): Promise<boolean> {
    const left = reserves.get(jobId) ?? 0;
    if (left > 0) {
      reserves.set(jobId, left - 1);
      return true;
    }
    const wanted = Math.min(BATCH_MAX, Math.max(1, Math.floor(budget * BATCH_SHARE)));
    let batch = 0;
    await change(jobId, (spending) => {
      batch = Math.min(wanted, budget - spending.taken);
      return batch > 0 ? { ...spending, taken: spending.taken + batch } : undefined;
    });
    if (batch <= 0) return false;
    reserves.set(jobId, batch - 1);
    return true;
  }

  async function change(jobId: string, apply: (before: JobSpending) => JobSpending | undefined): Promise<void> {
    for (let writes = 0; writes < MAX_WRITES; writes++) {
      const found = await values.findValue(spendingKey(jobId));
      const next = apply(decodeSpending(found?.value));
      if (next === undefined) return;
      const condition = { version: found?.version ?? 0, ttlMs: KEPT_MS };
      if ((await values.keepValue(spendingKey(jobId), JSON.stringify(next), condition)) !== undefined) return;
    }
    throw new Error(`the spending of job ${jobId} could not be written in ${MAX_WRITES} tries`);
  }

  async function flush(): Promise<void> {
    for (const [jobId, own] of [...unwritten]) {
      unwritten.delete(jobId);
      await change(jobId, (before) => ({ ...before, providers: sum(before.providers, own) })).catch(
        (cause: unknown) => {
          unwritten.set(jobId, sum(own, unwritten.get(jobId) ?? {}));
          log.warn("exits.spending_failed", { jobId, cause });
        },
      );
    }
  }

  return {
    mayUse(jobId, budget) {
      const answer = taking.then(() => take(jobId, budget));
      taking = answer.catch(() => {}); // the caller gets the error
      return answer;
    },
    record(jobId, provider, spent) {
      unwritten.set(jobId, sum(unwritten.get(jobId) ?? {}, { [provider]: { requests: 1, ...spent } }));
      timer ??= clock.sleep(flushMs, stopping.signal).then(async () => {
        timer = undefined;
        if (!stopping.signal.aborted) await flush();
      });
    },
    flush,
    async close() {
      stopping.abort();
      await timer;
      await flush();
    },
  };
}

/** What a job has spent. Undefined if none of its requests went through an exit. */
export async function readSpending(values: Pick<Values, "findValue">, jobId: string): Promise<JobSpending | undefined> {
  const found = await values.findValue(spendingKey(jobId));
  return found === undefined ? undefined : decodeSpending(found.value);
}

function spendingKey(jobId: string): string {
  return `exit-spending:${jobId}`;
}

function decodeSpending(text: string | undefined): JobSpending {
  if (text === undefined) return { taken: 0, providers: {} };
  const { taken, providers } = JSON.parse(text) as JobSpending;
  return { taken, providers: sum({}, providers) };
}

function sum(one: Record<string, Spent>, other: Record<string, Spent>): Record<string, Spent> {
  const all = { ...one };
  // Older versions do not write the bytes.
  for (const [provider, { requests, bytes = 0, cost }] of Object.entries(other)) {
    const name = provider in all || Object.keys(all).length < MAX_PROVIDERS ? provider : "others";
    const before = all[name] ?? { requests: 0, bytes: 0, cost: 0 };
    all[name] = {
      requests: before.requests + requests,
      bytes: before.bytes + bytes,
      cost: before.cost + cost,
    };
  }
  return all;
}
