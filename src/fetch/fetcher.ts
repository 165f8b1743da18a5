/** The contract of fetchers. */
import type { Page as Tab } from "playwright-core";
import type { BlockName } from "../domain/block.ts";
import type { BrowserSpec } from "../domain/browser.ts";
import type { StoredCookie } from "../domain/cookie.ts";
import type { ExitRules } from "../domain/exit.ts";
import type { ProfileName } from "../domain/header-profile.ts";
import type { Page } from "../domain/page.ts";
import type { Method } from "../domain/request.ts";
import type { DeadReason, RetryReason } from "../domain/task.ts";
import type { Validators } from "../domain/validators.ts";

export type FetchLimits = {
  /** Body size after decompression. */
  bodyBytes: number;
  /** From first byte sent to last byte read. */
  totalMs: number;
  /** Idle timeout while connecting, waiting for headers or reading. */
  idleMs: number;
};

/** The cookies of the session that a request belongs to. */
export type RequestCookies = {
  /** Identifies the session. */
  readonly session: string;
  /** The number of the session in the job. It selects the header profile. */
  readonly identity: number;
  /** The value of the `cookie` header; undefined if no cookie applies. */
  headerFor(url: string): string | undefined;
  /** Stores the `set-cookie` headers of a response. */
  receive(url: string, setCookies: readonly string[]): void;
  /** All cookies, for a browser. */
  list(): readonly StoredCookie[];
  /** Stores the cookies of a browser. */
  set(cookies: readonly StoredCookie[]): void;
};

export type FetchRequest = {
  url: string;
  site: string;
  /** Default: GET. */
  method?: Method;
  body?: string;
  /** Whether the request may be sent again if the connection breaks after it was sent. Default: true. */
  mayRepeat?: boolean;
  limits: FetchLimits;
  /** Added to the fetcher's own headers; names in lower case. */
  headers: Readonly<Record<string, string>>;
  /** Replaces the fetcher's own headers by those of a browser. */
  profile?: ProfileName | undefined;
  signal: AbortSignal;
  /** Undefined: the request has no session. */
  cookies?: RequestCookies | undefined;
  /** Makes the request conditional on these validators. If undefined, the request is unconditional. */
  validators?: Validators | undefined;
  /** Which proxies and gateways the request may use. Default: the rules of jobs that set none. */
  exits?: ExitUse;
  /**
   * Whether the job has steps for blocks. Then a 403, a 429 without Retry-After, and the page of a bot protection with
   * status 200 count as blocks, even without a proxy. Default: false.
   */
  findsAllBlocks?: boolean;
  /** How a fetcher with a browser renders the page. If undefined, the defaults apply. */
  show?: Show;
};

/** `none`: the request is sent directly. */
export type ExitUse =
  | {
      rules: ExitRules;
      jobId: string;
      session?: string | undefined;
      /** The first tier to use. If set, a blocked request is not sent again through another exit. */
      tier?: number;
    }
  | "none";

export type Show = {
  browser: BrowserSpec;
  /** Whether the page stays open in the browser. The caller must then close it. */
  keepsTab: boolean;
};

/** Screenshot and PDF of a page. */
export type Pictures = { screenshot?: Buffer; pdf?: Buffer };

/** A page that is still open in the browser. */
type OpenTab = {
  tab: Tab;
  /** Whether its browser has crashed or was ended. The cause is unknown. */
  isGone(): boolean;
  /** Never throws. A second call has no effect. */
  close(): Promise<void>;
};

/** The result of a fetch. Failures of a site are outcomes, not exceptions. */
export type FetchOutcome =
  /** `exitId`: the proxy or gateway that the page came through. */
  | { kind: "page"; page: Page; body: Buffer; pictures?: Pictures; open?: OpenTab; exitId?: string }
  /** The page has not changed: the validators of the request are still current. Only for conditional requests. */
  | { kind: "unchanged"; page: Page }
  /** The target is canonical. Fetchers never follow redirects, see docs/decisions/001. */
  | { kind: "redirect"; to: string; page: Page }
  | {
      kind: "retry";
      because: RetryReason;
      status?: number;
      detail: string;
      retryAfterMs?: number;
      /** Set if the reason is `blocked`. */
      block?: BlockName;
      /** The page of the block, if it has a body and the request sets `findsAllBlocks`. */
      blockPage?: { page: Page; body: Buffer; exitId?: string };
    }
  | { kind: "dead"; because: DeadReason; status?: number; detail: string };

/** Releases requests to a site at times that the site allows. Every request is counted. */
export type Allowance = {
  /**
   * Waits until a request to the site may be dispatched, or until `signal` aborts. Undefined if it may be dispatched at
   * once. Rejects if the broker is lost.
   */
  turn(site: string, signal: AbortSignal): Promise<void> | undefined;
  /**
   * Called right before the bytes are written. Returns false if they must not be written now: the request waits for
   * another turn.
   */
  trySend(site: string): boolean;
  /** Call this if a request that had its turn is not sent. */
  unsent(site: string): void;
};

export interface Fetcher {
  /** Throws only when `signal` aborts, never because of the site. */
  fetch(request: FetchRequest): Promise<FetchOutcome>;
  close(): Promise<void>;
}
