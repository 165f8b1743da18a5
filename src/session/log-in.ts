/**
 * Logs a session in, once for the whole fleet. The worker that logs in holds a lock in the broker, and the tasks of all
 * other workers wait until the login is stored. If the worker crashes, the lock expires.
 */
import { randomUUID } from "node:crypto";
import type { Frontier } from "../frontier/frontier.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Session } from "./session-store.ts";

export type LoginResult = { kind: "ready" } | { kind: "failed"; detail: string; retryAfterMs: number };

export type LogIn = (
  session: Session,
  /** Sends the requests of the login. Rejects with the reason if the login fails. */
  send: () => Promise<void>,
  signal: AbortSignal,
) => Promise<LoginResult>;

type Deps = { values: Pick<Frontier, "findValue" | "keepValue">; clock: Clock };

type Lock = { lock: string; version: number; owner: string };

/** A lock that is not renewed expires after this time. */
const LOCK_MS = 15_000;
const RENEW_MS = 5_000;
const POLL_MS = 250;
/** After a failed login, no worker tries again for this time. It doubles with each failure. */
const FIRST_PAUSE_MS = 5_000;
const MAX_PAUSE_MS = 300_000;

/** The failed login of a session, until the pause after it is over. */
export async function findLoginFailure(
  values: Pick<Frontier, "findValue">,
  key: string,
): Promise<Extract<LoginResult, { kind: "failed" }> | undefined> {
  const found = await values.findValue(`login-failure:${key}`);
  if (found === undefined) return undefined;
  const { detail, pauseMs } = JSON.parse(found.value) as { detail: string; pauseMs: number };
  return { kind: "failed", detail, retryAfterMs: pauseMs };
}

export function createLogIn({ values, clock }: Deps): LogIn {
  /** The logins of this process, so that its tasks do not compete for the lock. */
  const running = new Map<string, Promise<LoginResult>>();

  async function logIn(session: Session, send: () => Promise<void>, signal: AbortSignal): Promise<LoginResult> {
    for (;;) {
      await session.refresh();
      if (session.isLoggedIn()) return { kind: "ready" };
      const failure = await findLoginFailure(values, session.key);
      if (failure !== undefined) return failure;
      const lock = `login:${session.key}`;
      const owner = randomUUID();
      const version = await values.keepValue(lock, owner, { version: 0, ttlMs: LOCK_MS });
      if (version !== undefined) return logInWithLock(session, send, { lock, version, owner }, signal);
      await clock.sleep(POLL_MS, signal);
      signal.throwIfAborted();
    }
  }

  async function logInWithLock(
    session: Session,
    send: () => Promise<void>,
    { lock, version, owner }: Lock,
    signal: AbortSignal,
  ): Promise<LoginResult> {
    const done = new AbortController();
    const renewed = keepLock({ lock, version, owner }, done.signal);
    try {
      // Another worker may have logged in between the last look and the lock.
      await session.refresh();
      if (!session.isLoggedIn()) {
        await send();
        await session.loggedIn();
      }
      await forgetFailures(session.key);
      return { kind: "ready" };
    } catch (error) {
      if (signal.aborted) throw error; // the task was stopped; that is no failure of the login
      return await rememberFailure(session.key, error instanceof Error ? error.message : String(error));
    } finally {
      done.abort();
      const last = await renewed;
      if (await isOwned(lock, owner)) await values.keepValue(lock, "", { version: last, ttlMs: 1 });
    }
  }

  /** False if the lock has expired, and another worker may hold it. */
  async function isOwned(lock: string, owner: string): Promise<boolean> {
    return (await values.findValue(lock))?.value === owner;
  }

  /** Renews the lock until `signal` aborts. Returns the version of the lock. */
  async function keepLock({ lock, version: first, owner }: Lock, signal: AbortSignal): Promise<number> {
    for (let version = first; ; ) {
      await clock.sleep(RENEW_MS, signal);
      if (signal.aborted) return version;
      version = (await renew({ lock, version, owner }).catch(() => undefined)) ?? version;
    }
  }

  async function renew({ lock, version, owner }: Lock): Promise<number | undefined> {
    return (await isOwned(lock, owner)) ? values.keepValue(lock, owner, { version, ttlMs: LOCK_MS }) : undefined;
  }

  async function forgetFailures(key: string): Promise<void> {
    const counter = `login-failures:${key}`;
    const before = await values.findValue(counter);
    if (before !== undefined) await values.keepValue(counter, "0", { version: before.version, ttlMs: 1 });
  }

  async function rememberFailure(key: string, detail: string): Promise<LoginResult> {
    const counter = `login-failures:${key}`;
    const before = await values.findValue(counter);
    const failures = Number(before?.value ?? 0) + 1;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), MAX_PAUSE_MS);
    await values.keepValue(counter, String(failures), { version: before?.version ?? 0, ttlMs: 2 * MAX_PAUSE_MS });
    const value = JSON.stringify({ detail, pauseMs });
    await values.keepValue(`login-failure:${key}`, value, { version: 0, ttlMs: pauseMs });
    return { kind: "failed", detail, retryAfterMs: pauseMs };
  }

  return async (session, send, signal) => {
    for (let known = running.get(session.key); known !== undefined; known = running.get(session.key)) {
      const result = await known.catch(() => undefined); // the task that logged in was aborted
      signal.throwIfAborted();
      if (result !== undefined) return result;
    }
    const result = logIn(session, send, signal).finally(() => running.delete(session.key));
    running.set(session.key, result);
    return result;
  };
}
