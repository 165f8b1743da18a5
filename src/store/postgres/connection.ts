/**
 * Runs statements on a PostgreSQL store, also while the server restarts. Each call is retried until the server answers
 * or has been unreachable for `retryForMs`. So a statement may run twice: every statement either changes nothing the
 * second time or uses `queryOnce`. Except for migrations, every call is one statement and therefore one transaction: a
 * crash leaves all of it or nothing, and no lock is held while a client is busy.
 */
import type { Clock } from "../../runtime/clock.ts";
import type { Log } from "../../runtime/log.ts";
import { withoutNul } from "../rows.ts";
import { connect, type Pool, type Transaction } from "./connect.ts";
import type { PostgresUrl } from "./connection-url.ts";
import { describeError, isTemporary, NO_ANSWER, storeUnreachable, toStoreError } from "./postgres-errors.ts";

export type PostgresRow = Record<string, unknown>;
export type PostgresValue = string | number | null;

/** Values for `$1`, `$2` … in order, or for `:name` by name. */
export type PostgresValues = readonly PostgresValue[] | Readonly<Record<string, PostgresValue>>;

export type PostgresConnection = {
  /** Runs one statement. Encode arrays with `encodeArray`. */
  query(op: string, text: string, values: PostgresValues): Promise<readonly PostgresRow[]>;
  /** Runs one statement at most once. If the connection is lost, the promise resolves, and the outcome is unknown. */
  queryOnce(op: string, text: string, values: readonly PostgresValue[]): Promise<void>;
  /**
   * Runs several statements in one transaction. Only for use at startup: if the connection breaks between two
   * statements, the library throws where no caller can catch it, and the process ends.
   */
  transaction<T>(op: string, work: (sql: Transaction) => Promise<T>, answerMs?: number): Promise<T>;
  close(): Promise<void>;
};

type Deps = { clock: Clock; log: Log };

const RETRY_MS = 100;
/** Timeout of a statement. Most take milliseconds, but a trace of a huge job reads many rows. */
const ANSWER_MS = 30_000;
/** How long `close` waits for calls that are in progress. */
const CLOSE_MS = 5_000;

export function openConnection(
  url: PostgresUrl,
  deps: Deps,
  { retryForMs }: { retryForMs: number },
): PostgresConnection {
  const { clock, log } = deps;
  const closing = new AbortController();
  let pool = connect(url);
  const inProgress = new Set<Promise<unknown>>();
  /** The time of the first call without an answer; undefined if the server answers. */
  let lostAt: number | undefined;

  async function retryUntilAnswered<T>(op: string, answerMs: number, call: (pool: Pool) => Promise<T>): Promise<T> {
    let failingSince: number | undefined;
    for (;;) {
      try {
        const answer = await withAnswerTimeout(answerMs, call);
        recordAnswer();
        return answer;
      } catch (cause) {
        if (closing.signal.aborted || !isTemporary(cause)) throw toStoreError(url, op, cause);
        recordLoss(cause);
        failingSince ??= clock.now();
        const lostMs = clock.now() - failingSince;
        if (lostMs >= retryForMs) throw storeUnreachable(url, { op, lostMs, cause });
        await clock.sleep(RETRY_MS, closing.signal);
      }
    }
  }

  /** Adds a timeout to a call. The library itself waits forever on a connection without traffic. */
  async function withAnswerTimeout<T>(answerMs: number, call: (pool: Pool) => Promise<T>): Promise<T> {
    const used = pool;
    const waiting = new AbortController();
    const timeout = clock.sleep(answerMs, waiting.signal).then(() => {
      if (waiting.signal.aborted) return undefined as never; // the call has settled, so the race ignores this value
      throw Object.assign(new Error(`no answer within ${answerMs / 1000} s`), { code: NO_ANSWER });
    });
    const calling = call(used);
    inProgress.add(calling);
    try {
      return await Promise.race([calling, timeout]);
    } catch (error) {
      if ((error as { code?: unknown }).code === NO_ANSWER) replacePool(used);
      throw error;
    } finally {
      inProgress.delete(calling);
      waiting.abort();
    }
  }

  /**
   * Replaces a pool that does not answer, unless it was replaced before. All calls that wait on it fail, and are
   * retried on the new pool.
   */
  function replacePool(unresponsive: Pool): void {
    if (unresponsive !== pool || closing.signal.aborted) return;
    pool = connect(url);
    void unresponsive.end({ timeout: 0 });
  }

  function recordLoss(cause: unknown): void {
    if (lostAt !== undefined) return;
    lostAt = clock.now();
    log.warn("store.lost", { store: url.shown, cause: describeError(cause) });
  }

  function recordAnswer(): void {
    if (lostAt === undefined) return;
    log.warn("store.back", { store: url.shown, lostMs: Math.round(clock.now() - lostAt) });
    lostAt = undefined;
  }

  return {
    async query(op, text, values) {
      const statement = toPositional(text, values);
      const clean = statement.values.map((value) => (typeof value === "string" ? withoutNul(value) : value));
      return retryUntilAnswered(op, ANSWER_MS, async (used) => used.unsafe(statement.text, clean, { prepare: true }));
    },
    async queryOnce(op, text, values) {
      try {
        await withAnswerTimeout(ANSWER_MS, async (used) => used.unsafe(text, [...values], { prepare: true }));
        recordAnswer();
      } catch (cause) {
        if (closing.signal.aborted || !isTemporary(cause)) throw toStoreError(url, op, cause);
        recordLoss(cause);
      }
    },
    transaction: (op, work, answerMs = ANSWER_MS) =>
      retryUntilAnswered(op, answerMs, async (used) => (await used.begin(work)) as never),
    async close() {
      closing.abort();
      // The library's own graceful end is not used: after a broken connection it waits for an answer that never
      // arrives.
      const waited = new AbortController();
      const done = Promise.allSettled(inProgress).then(() => waited.abort());
      await Promise.race([done, clock.sleep(CLOSE_MS, waited.signal)]);
      await pool.end({ timeout: 0 });
    },
  };
}

/** `:name`, but not the cast `::type`. */
const NAMED = /(?<!:):([a-z]\w*)/gi;

/** Replaces each `:name` by a numbered parameter, because PostgreSQL has no named ones. */
function toPositional(text: string, values: PostgresValues): { text: string; values: readonly PostgresValue[] } {
  if (isList(values)) return { text, values };
  const names: string[] = [];
  const numbered = text.replace(NAMED, (_, name: string) => {
    if (!names.includes(name)) names.push(name);
    return `$${names.indexOf(name) + 1}`;
  });
  return {
    text: numbered,
    values: names.map((name) => {
      const value = values[name];
      if (value === undefined) throw new Error(`no value for :${name}`);
      return value;
    }),
  };
}

function isList(values: PostgresValues): values is readonly PostgresValue[] {
  return Array.isArray(values);
}

/** Encodes a list as a PostgreSQL array literal. */
export function encodeArray(values: readonly (PostgresValue | undefined)[]): string {
  return `{${values.map(encodeElement).join(",")}}`;
}

function encodeElement(value: PostgresValue | undefined): string {
  if (value === null || value === undefined) return "NULL";
  if (typeof value === "number") return String(value);
  return `"${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}
