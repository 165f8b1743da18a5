/**
 * Calls on a PostgreSQL store that outlive its restarts: each is made until it is answered or the server has been out of
 * reach for `patienceMs`. A call may so be made twice: all of ours change nothing the second time, or are `tell`ed. Every call is one
 * statement and so one transaction; a crash leaves all of it or nothing, and nobody holds a lock while a client thinks.
 */
import type { Clock } from "../../runtime/clock.ts";
import type { Log } from "../../runtime/log.ts";
import { withoutNul } from "../rows.ts";
import { connect, type Pool, type Transaction } from "./connect.ts";
import type { PostgresPlace } from "./place.ts";
import { coded, isLostContact, SILENT, troubleWords, unreachable } from "./trouble.ts";

export type PostgresRow = Record<string, unknown>;
export type PostgresValue = string | number | null;

export type Connection = {
  /** One statement; arrays as `arrayOf` writes them. */
  ask(op: string, text: string, values: readonly PostgresValue[]): Promise<readonly PostgresRow[]>;
  /** One statement that is made once: nobody is told whether it was, should the connection be lost. */
  tell(op: string, text: string, values: readonly PostgresValue[]): Promise<void>;
  /**
   * Several, together or not at all; for what is done before anything else is. A connection that breaks between two of
   * them ends the process: the library then throws where nobody can catch it.
   */
  transact<T>(op: string, work: (sql: Transaction) => Promise<T>, answerMs?: number): Promise<T>;
  close(): Promise<void>;
};

type Deps = { clock: Clock; log: Log };

const TRY_AGAIN_MS = 100;
/** Our statements take milliseconds, but for traces of huge jobs; a server is not thought dead while it reads. */
const ANSWER_MS = 30_000;
/** What is under way may take so long when a store is closed. */
const FAREWELL_MS = 5_000;

export function openConnection(place: PostgresPlace, deps: Deps, { patienceMs }: { patienceMs: number }): Connection {
  const { clock, log } = deps;
  const closing = new AbortController();
  let pool = connect(place);
  const underWay = new Set<Promise<unknown>>();
  /** Since when no call has been answered. */
  let lostAt: number | undefined;

  async function persist<T>(op: string, answerMs: number, call: (pool: Pool) => Promise<T>): Promise<T> {
    let failingSince: number | undefined;
    for (;;) {
      try {
        const answer = await answered(answerMs, call);
        hasAnswered();
        return answer;
      } catch (cause) {
        if (closing.signal.aborted || !isLostContact(cause)) throw coded(place, op, cause);
        noteLoss(cause);
        failingSince ??= clock.now();
        const lostMs = clock.now() - failingSince;
        if (lostMs >= patienceMs) throw unreachable(place, { op, lostMs, cause });
        await clock.sleep(TRY_AGAIN_MS, closing.signal);
      }
    }
  }

  /** The library would wait for ever on a connection that nobody speaks on. */
  async function answered<T>(answerMs: number, call: (pool: Pool) => Promise<T>): Promise<T> {
    const asked = pool;
    const waiting = new AbortController();
    const silence = clock.sleep(answerMs, waiting.signal).then(() => {
      if (waiting.signal.aborted) return undefined as never; // answered: nobody listens any more
      throw Object.assign(new Error(`no answer within ${answerMs / 1000} s`), { code: SILENT });
    });
    const calling = call(asked);
    underWay.add(calling);
    try {
      return await Promise.race([calling, silence]);
    } catch (error) {
      if ((error as { code?: unknown }).code === SILENT) abandon(asked);
      throw error;
    } finally {
      underWay.delete(calling);
      waiting.abort();
    }
  }

  /** Once for all calls that wait on it; they fail, and ask again on the new one. */
  function abandon(silent: Pool): void {
    if (silent !== pool || closing.signal.aborted) return;
    pool = connect(place);
    void silent.end({ timeout: 0 });
  }

  function noteLoss(cause: unknown): void {
    if (lostAt !== undefined) return;
    lostAt = clock.now();
    log.warn("store.lost", { store: place.shown, cause: troubleWords(cause) });
  }

  function hasAnswered(): void {
    if (lostAt === undefined) return;
    log.warn("store.back", { store: place.shown, lostMs: Math.round(clock.now() - lostAt) });
    lostAt = undefined;
  }

  return {
    async ask(op, text, values) {
      const clean = values.map((value) => (typeof value === "string" ? withoutNul(value) : value));
      return persist(op, ANSWER_MS, async (asked) => asked.unsafe(text, [...clean], { prepare: true }));
    },
    async tell(op, text, values) {
      try {
        await answered(ANSWER_MS, async (asked) => asked.unsafe(text, [...values], { prepare: true }));
        hasAnswered();
      } catch (cause) {
        if (closing.signal.aborted || !isLostContact(cause)) throw coded(place, op, cause);
        noteLoss(cause);
      }
    },
    transact: (op, work, answerMs = ANSWER_MS) =>
      persist(op, answerMs, async (asked) => (await asked.begin(work)) as never),
    async close() {
      closing.abort();
      // Not the library's own farewell: after a connection broke, it waits for an answer that nobody asked for.
      const waited = new AbortController();
      const done = Promise.allSettled(underWay).then(() => waited.abort());
      await Promise.race([done, clock.sleep(FAREWELL_MS, waited.signal)]);
      await pool.end({ timeout: 0 });
    },
  };
}

/** A list as PostgreSQL reads it. */
export function arrayOf(values: readonly (PostgresValue | undefined)[]): string {
  return `{${values.map(elementOf).join(",")}}`;
}

function elementOf(value: PostgresValue | undefined): string {
  if (value === null || value === undefined) return "NULL";
  if (typeof value === "number") return String(value);
  return `"${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}
