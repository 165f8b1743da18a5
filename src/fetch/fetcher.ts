/** The contract of everything that turns a task into an outcome. */
import type { Page as Tab } from "playwright-core";
import type { BrowserSpec } from "../domain/browser.ts";
import type { Page } from "../domain/page.ts";
import type { Slot } from "../domain/politeness.ts";
import type { DeadReason, RetryReason } from "../domain/task.ts";
import type { Validators } from "../domain/validators.ts";

export type FetchLimits = {
  /** Body size after decompression. */
  bodyBytes: number;
  /** From first byte sent to last byte read. */
  totalMs: number;
  /** Longest silence while connecting, waiting for headers or reading. */
  idleMs: number;
};

export type FetchRequest = {
  url: string;
  site: string;
  slot: Slot;
  limits: FetchLimits;
  /** Sent on top of the fetcher's own; names in lower case. */
  headers: Readonly<Record<string, string>>;
  signal: AbortSignal;
  /** Ask only whether the page has changed since it had these; undefined: ask for the page. */
  validators?: Validators | undefined;
  /** How to show the page, for a fetcher that does; undefined: as it is. */
  show?: Show;
};

export type Show = {
  browser: BrowserSpec;
  /** Leave the page open in the browser; whoever asks closes it. */
  keepsTab: boolean;
};

/** What a page looked like. */
export type Pictures = { screenshot?: Buffer; pdf?: Buffer };

/** A page that is still open in the browser. */
export type OpenTab = {
  tab: Tab;
  /** Whether its browser has gone: nobody knows by whose fault. */
  isGone(): boolean;
  /** Never throws. Twice is harmless. */
  close(): Promise<void>;
};

/** What the web did to us: data, not exceptions. */
export type FetchOutcome =
  | { kind: "page"; page: Page; body: Buffer; pictures?: Pictures; open?: OpenTab }
  /** As it was when it had the validators of the request; never without any. */
  | { kind: "unchanged"; page: Page }
  /** Where to is canonical; redirects are never followed here, see docs/decisions/001. */
  | { kind: "redirect"; to: string; page: Page }
  | { kind: "retry"; because: RetryReason; status?: number; detail: string; retryAfterMs?: number }
  | { kind: "dead"; because: DeadReason; status?: number; detail: string };

/** Buys requests at a site, so that every one of them counts. */
export type Allowance = { spend(site: string, unused?: Slot): Promise<Slot> };

export interface Fetcher {
  /** Never throws for what a site does; throws only when aborted by `signal`. */
  fetch(request: FetchRequest): Promise<FetchOutcome>;
  close(): Promise<void>;
}
