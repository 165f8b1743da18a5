/**
 * The sessions of jobs. A session lives in the broker as a shared value, so that all workers use the same cookies. A
 * process keeps the sessions that it uses in memory, and reads them again after a second.
 *
 * Many tasks use one session at once. Changed cookies are written together, 200 ms after the first change; the write is
 * repeated if another worker has written in between. A crash loses these changes. A login is written before any task
 * uses it.
 */
import type { StoredCookie } from "../domain/cookie.ts";
import { TrawlError } from "../errors.ts";
import type { Frontier } from "../frontier/frontier.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";
import { CookieJar } from "./cookie-jar.ts";

/** A session as the broker stores it. */
type StoredSession = {
  cookies: readonly StoredCookie[];
  /** Tasks that have used the session. */
  uses: number;
  /** How often the session has logged in; 0: never. */
  logins: number;
  isExpired: boolean;
  /** Set if the last logins did not help: how many, the number of the last one, and the pause without another login. */
  useless?: { count: number; login: number; since: number; until: number };
  /** How often a block has replaced the session. */
  replaced?: number;
};

export type Session = {
  readonly key: string;
  readonly jar: CookieJar;
  /** How often the session has logged in. */
  logins(): number;
  isLoggedIn(): boolean;
  /** Counts a task, and returns the number of tasks until now. Other workers see it with a delay. */
  use(): number;
  /** Writes changed cookies soon. */
  changed(): void;
  /** Reads the session from the broker. */
  refresh(): Promise<void>;
  /** Marks login number `login` as expired. Has no effect if the session has logged in again since. */
  expire(login: number): Promise<void>;
  /** Stores the cookies of a new login. */
  loggedIn(): Promise<void>;
  /** How long no page may start another login, because the last logins did not help; 0: a page may. */
  pauseMs(): number;
  /**
   * Reports whether login number `login` has helped. It has helped if the response to a page matched `expired` before
   * the login, and not after it. Otherwise the page itself may be forbidden, and the pause before the next login grows.
   */
  judgeLogin(login: number, hasHelped: boolean): Promise<void>;
  /** Reports a response that does not match `expired`, to a request sent at `sentAt` with login number `login`. */
  worked(login: number, sentAt: number): void;
  /** Whether `worked` was called in this process since the current pause began. Then the session has not ended. */
  hasWorkedInPause(): boolean;
  /** How often the session was replaced by a new one. */
  replaced(): number;
  /** Replaces the session, unless it was replaced since `replaced` had this value. */
  replace(replaced: number): Promise<void>;
};

export type SessionStore = {
  /** The session of a key, at most a second old. */
  open(key: string): Promise<Session>;
  /** Writes all changes. */
  flush(): Promise<void>;
};

type Deps = { values: Pick<Frontier, "findValue" | "keepValue">; clock: Clock; log: Log };

const NEW_SESSION: StoredSession = { cookies: [], uses: 0, logins: 0, isExpired: false };
/** How long a session is kept after its last change. */
const SESSION_MS = 30 * 24 * 3_600_000;
const FRESH_MS = 1_000;
const WRITE_AFTER_MS = 200;
/** The pause after a login that did not help. It doubles with each further one. */
const FIRST_PAUSE_MS = 10_000;
const MAX_PAUSE_MS = 60_000;
/** How often an update is tried. A try fails only if another worker has written in between. */
const MAX_WRITES = 50;
/** Sessions in memory. Above this number, the least recently used one is written and removed. */
const MAX_OPEN = 5_000;

export function createSessionStore({ values, clock, log }: Deps): SessionStore {
  const open = new Map<string, SharedSession>();

  class SharedSession implements Session {
    readonly key: string;
    readonly jar = new CookieJar();
    #stored = NEW_SESSION;
    #version = 0;
    #readAt = Number.NEGATIVE_INFINITY;
    #reading: Promise<void> | undefined;
    #newUses = 0;
    #worked = { login: 0, sentAt: 0 };
    #writing: Promise<void> | undefined;
    #writeNow = new AbortController();

    constructor(key: string) {
      this.key = key;
    }

    logins(): number {
      return this.#stored.logins;
    }

    isLoggedIn(): boolean {
      return this.#stored.logins > 0 && !this.#stored.isExpired;
    }

    isFresh(): boolean {
      return clock.now() - this.#readAt < FRESH_MS;
    }

    refresh(): Promise<void> {
      this.#reading ??= this.#read().finally(() => {
        this.#reading = undefined;
      });
      return this.#reading;
    }

    use(): number {
      this.#newUses += 1;
      this.changed();
      return this.#stored.uses + this.#newUses;
    }

    changed(): void {
      this.#writing ??= this.#writeSoon();
    }

    async expire(login: number): Promise<void> {
      await this.#update((stored) => (stored.logins === login ? { ...stored, isExpired: true } : stored));
    }

    async loggedIn(): Promise<void> {
      await this.#update((stored) => ({ ...stored, logins: stored.logins + 1, isExpired: false }));
    }

    pauseMs(): number {
      return Math.max(0, (this.#stored.useless?.until ?? 0) - clock.now());
    }

    async judgeLogin(login: number, hasHelped: boolean): Promise<void> {
      const { useless } = this.#stored;
      if (hasHelped ? useless === undefined : useless?.login === login) return; // known
      await this.#update(({ useless: before, ...stored }) => {
        if (hasHelped) return stored;
        if (before?.login === login) return { ...stored, useless: before };
        const count = (before?.count ?? 0) + 1;
        const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (count - 1), MAX_PAUSE_MS);
        const since = clock.now();
        return { ...stored, useless: { count, login, since, until: since + pauseMs } };
      });
    }

    worked(login: number, sentAt: number): void {
      if (sentAt > this.#worked.sentAt) this.#worked = { login, sentAt };
    }

    hasWorkedInPause(): boolean {
      const { logins, useless } = this.#stored;
      return this.pauseMs() > 0 && this.#worked.login === logins && this.#worked.sentAt > (useless?.since ?? 0);
    }

    replaced(): number {
      return this.#stored.replaced ?? 0;
    }

    async replace(replaced: number): Promise<void> {
      await this.#update((stored) =>
        (stored.replaced ?? 0) === replaced ? { ...stored, replaced: replaced + 1 } : stored,
      );
    }

    async flush(): Promise<void> {
      this.#writeNow.abort();
      await this.#writing;
      if (this.jar.hasChanges() || this.#newUses > 0) await this.#update((stored) => stored);
    }

    async #writeSoon(): Promise<void> {
      this.#writeNow = new AbortController();
      await clock.sleep(WRITE_AFTER_MS, this.#writeNow.signal);
      this.#writing = undefined;
      try {
        await this.#update((stored) => stored);
      } catch (cause) {
        // The next change writes these cookies too.
        log.warn("session.write_failed", { session: this.key, cause });
      }
    }

    async #read(): Promise<void> {
      const found = await values.findValue(this.key);
      this.#readAt = clock.now();
      const version = found?.version ?? 0;
      if (version !== this.#version || found === undefined) {
        this.#take(found === undefined ? NEW_SESSION : (JSON.parse(found.value) as StoredSession), version);
      }
    }

    /** Replaces the cookies by the stored ones, and applies the changes of this process again. */
    #take(stored: StoredSession, version: number): void {
      const changes = this.jar.takeChanges();
      this.jar.clear();
      this.jar.load(stored.cookies);
      this.jar.set(changes);
      this.#stored = stored;
      this.#version = version;
    }

    /** Writes the session with all changed cookies. */
    async #update(change: (stored: StoredSession) => StoredSession): Promise<void> {
      for (let writes = 0; writes < MAX_WRITES; writes++) {
        const uses = this.#newUses;
        const next = change(this.#stored);
        const changes = this.jar.takeChanges();
        const stored: StoredSession = { ...next, uses: next.uses + uses, cookies: this.jar.list() };
        const condition = { version: this.#version, ttlMs: SESSION_MS };
        const version = await values.keepValue(this.key, JSON.stringify(stored), condition).catch((error: unknown) => {
          this.jar.set(changes); // the next write contains them
          throw error;
        });
        if (version !== undefined) {
          this.#newUses -= uses;
          this.#stored = stored;
          this.#version = version;
          this.#readAt = clock.now();
          return;
        }
        this.jar.set(changes);
        await this.#read();
      }
      throw new TrawlError("BROKER_UNREACHABLE", {
        op: "session.write",
        message: `session ${this.key} was changed by other workers in each of ${MAX_WRITES} tries; raise sessions.count`,
        detail: { key: this.key },
      });
    }
  }

  function forgetOldest(): void {
    const [oldest] = open.values();
    if (open.size <= MAX_OPEN || oldest === undefined) return;
    open.delete(oldest.key);
    oldest.flush().catch((cause: unknown) => log.warn("session.write_failed", { session: oldest.key, cause }));
  }

  return {
    async open(key) {
      const session = open.get(key) ?? new SharedSession(key);
      open.delete(key); // moves it to the end
      open.set(key, session);
      forgetOldest();
      if (!session.isFresh()) await session.refresh();
      return session;
    },
    async flush() {
      await Promise.all([...open.values()].map((session) => session.flush()));
    },
  };
}
