/**
 * The cookies of one session, by RFC 6265bis with public suffixes. Changes are recorded, so that they can be merged
 * into the cookies that another worker has stored in the meantime.
 */
import { Cookie, CookieJar as ToughJar } from "tough-cookie";
import type { StoredCookie } from "../domain/cookie.ts";

/** Larger cookies are dropped, as browsers do. */
const MAX_COOKIE_BYTES = 4_096;
/** Cookies of a session. Browsers should keep at least this many in total (RFC 6265, 6.1). */
const MAX_COOKIES = 3_000;

export class CookieJar {
  #jar = newJar();
  /** The cookies that were set or removed since the last `takeChanges`, by their identity. */
  #changes = new Map<string, StoredCookie>();

  /** The value of the `cookie` header for a request; undefined if no cookie applies. */
  headerFor(url: string): string | undefined {
    const header = this.#jar.getCookieStringSync(url);
    return header === "" ? undefined : header;
  }

  /** Stores the `set-cookie` headers of a response. Invalid ones are ignored. */
  receive(url: string, setCookies: readonly string[]): void {
    for (const text of setCookies) {
      if (text.length > MAX_COOKIE_BYTES) continue;
      const cookie = this.#jar.setCookieSync(text, url, { ignoreError: true });
      if (cookie !== undefined) this.#changed(cookie);
    }
  }

  /** Stores cookies that another worker or a browser has set. They are not recorded as changes. */
  load(cookies: readonly StoredCookie[]): void {
    for (const stored of cookies) {
      const cookie = Cookie.fromJSON(stored);
      if (cookie !== undefined) this.#put(cookie);
    }
  }

  /** Stores cookies and records them as changes. */
  set(cookies: readonly StoredCookie[]): void {
    for (const stored of cookies) {
      const cookie = Cookie.fromJSON(stored);
      if (cookie === undefined) continue;
      this.#put(cookie);
      this.#changed(cookie);
    }
  }

  /** All cookies that have not expired. */
  list(): StoredCookie[] {
    const now = Date.now();
    const cookies = (this.#jar.serializeSync()?.cookies ?? []) as unknown as StoredCookie[];
    return cookies
      .filter((stored) => (Cookie.fromJSON(stored)?.expiryTime() ?? Number.POSITIVE_INFINITY) > now)
      .slice(-MAX_COOKIES);
  }

  /** The value of a cookie at any path of the host of a URL; undefined if there is none. */
  find(url: string, name: string): string | undefined {
    const { hostname } = new URL(url);
    const isOfHost = ({ domain }: StoredCookie) => hostname === domain || hostname.endsWith(`.${domain}`);
    const found = this.list().find((cookie) => cookie.key === name && isOfHost(cookie));
    return found === undefined ? undefined : (found.value ?? "");
  }

  hasChanges(): boolean {
    return this.#changes.size > 0;
  }

  /** Returns the changes since the last call, and forgets them. */
  takeChanges(): StoredCookie[] {
    const changes = [...this.#changes.values()];
    this.#changes.clear();
    return changes;
  }

  clear(): void {
    this.#jar = newJar();
    this.#changes.clear();
  }

  #put(cookie: Cookie): void {
    // Not `setCookie`, which checks the domain again: a cookie of a host without a dot would be refused.
    void this.#jar.store.putCookie(cookie, () => {}); // the store is in memory, so this is synchronous
  }

  #changed(cookie: Cookie): void {
    const stored = cookie.toJSON() as unknown as StoredCookie;
    this.#changes.set(`${stored.domain} ${stored.path} ${stored.key}`, stored);
  }
}

function newJar(): ToughJar {
  return new ToughJar(undefined, { looseMode: false, rejectPublicSuffixes: true });
}
