/**
 * Fetches pages and renders them. The HTTP fetcher fetches the document, and the browser gets it as the response to its
 * first request; see docs/decisions/007. So the request for the document waits until its site allows it, the limits and
 * the status policy of the HTTP fetcher apply, and redirects are never followed. All other requests of the page go
 * through the filter proxy.
 */

import { setMaxListeners } from "node:events";
import type { BrowserContextOptions } from "playwright-core";
import { PLAIN_BROWSER } from "../../domain/browser.ts";
import type { Exit } from "../../domain/exit.ts";
import { userAgentOf } from "../../domain/header-profile.ts";
import type { Page } from "../../domain/page.ts";
import { isTrawlError } from "../../errors.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Log } from "../../runtime/log.ts";
import type { EgressGate } from "../egress/gate.ts";
import type { Fetcher, FetchOutcome, FetchRequest, Show } from "../fetcher.ts";
import { fromBrowser, toBrowser } from "./browser-cookies.ts";
import {
  type BrowserKeeperOptions,
  type BrowserWatch,
  createBrowserKeeper,
  type KeptContext,
} from "./browser-keeper.ts";
import { type LaunchOptions, launchBrowser } from "./launch-browser.ts";
import { playwrightMessage } from "./playwright-message.ts";
import { type Rendering, renderPage, type ShownDocument } from "./render-page.ts";
import { createTabGate } from "./tab-gate.ts";

export type BrowserFetcherDeps = {
  /** Fetches the documents. The browser fetcher does not close this fetcher. */
  documents: Pick<Fetcher, "fetch">;
  /** The proxy of a page. The other requests of the page go through it too. Undefined: there are no proxies. */
  findExit?: (exitId: string) => Exit | undefined;
  gate: EgressGate;
  clock: Clock;
  log: Log;
  /** Counts browsers. */
  watch?: BrowserWatch;
};

export type BrowserFetcherOptions = LaunchOptions &
  BrowserKeeperOptions & {
    userAgent: string;
    /** Maximum number of pages rendered at once. */
    tabs: number;
  };

type ShowRequest = FetchRequest & { show: Show };
/** `isChallenge`: it is the page of a block. */
type Fetched = Extract<FetchOutcome, { kind: "page" }> & { isChallenge?: boolean };

/** The result of one rendering. `isGone`: the browser ended during it, for any reason. */
type Try = { outcome: FetchOutcome; isGone: boolean };

/** Headers that describe the transfer of the document, or that would keep the browser from rendering it. */
const NOT_SHOWN: ReadonlySet<string> = new Set([
  ...["content-encoding", "content-length", "transfer-encoding", "connection", "keep-alive", "trailer", "upgrade"],
  ...["content-disposition", "alt-svc"],
]);

const DEFAULT_SHOW: Show = { browser: PLAIN_BROWSER, keepsTab: false };

export function createBrowserFetcher(
  { documents, findExit, gate, clock, log, watch }: BrowserFetcherDeps,
  options: BrowserFetcherOptions,
): Fetcher {
  const launch = (signal: AbortSignal) => launchBrowser(gate, options, signal);
  const keeper = createBrowserKeeper({ launch, log, ...(watch === undefined ? {} : { watch }) }, options);
  const tabGate = createTabGate(options);

  /**
   * Renders a page. When a browser ends, all its pages fail. Each of them is then rendered again, alone, to find the
   * page that is the cause.
   */
  async function render(fetched: Fetched, request: ShowRequest): Promise<FetchOutcome> {
    const first = await renderOnce(fetched, request, "shared");
    if (!first.isGone) return first.outcome;
    return (await renderOnce(fetched, request, "alone")).outcome;
  }

  async function renderOnce(fetched: Fetched, request: ShowRequest, how: "shared" | "alone"): Promise<Try> {
    const leave = await tabGate.enter(how, request.signal);
    let kept: KeptContext | undefined;
    const close = async (): Promise<void> => {
      await kept?.close();
      leave();
    };
    try {
      const startedAt = clock.now();
      const exit = fetched.exitId === undefined ? undefined : findExit?.(fetched.exitId);
      kept = await keeper.open(contextOptions(request), { ...request.show.browser, exit });
      if (request.cookies !== undefined) await kept.context.addCookies(request.cookies.list().map(toBrowser));
      const rendering = await shown(kept, fetched, request);
      if (request.cookies !== undefined) request.cookies.set((await kept.context.cookies()).map(fromBrowser));
      const outcome = judge(rendering, fetched, request, clock.now() - startedAt);
      if (outcome.kind === "page" && rendering.kind === "rendered" && request.show.keepsTab) {
        return { outcome: { ...outcome, open: { tab: rendering.tab, isGone: kept.isGone, close } }, isGone: false };
      }
      await close();
      return { outcome, isGone: outcome.kind === "retry" && kept.isGone() };
    } catch (error) {
      await close();
      request.signal.throwIfAborted();
      if (isTrawlError(error)) throw error;
      const detail = playwrightMessage(error);
      return { outcome: { kind: "retry", because: "render_failed", detail }, isGone: kept?.isGone() ?? true };
    }
  }

  /**
   * Shows the page of a block, so that its scripts can run. True if they have loaded the page again: the session may
   * now have a cookie that the site accepts. Only requests in a session keep this cookie.
   */
  async function passChallenge(
    { blockPage }: FetchOutcome & { kind: "retry" },
    request: ShowRequest,
  ): Promise<boolean> {
    if (blockPage === undefined || request.cookies === undefined || request.mayRepeat === false) return false;
    const challenge: Fetched = { kind: "page", ...blockPage, isChallenge: true };
    if (!isRenderable(challenge)) return false;
    // The page of a block is rendered without the actions, pictures and conditions of the job.
    const browser = { ...PLAIN_BROWSER, settleMs: request.show.browser.settleMs };
    const { outcome } = await renderOnce(challenge, { ...request, show: { browser, keepsTab: false } }, "shared");
    return outcome.kind === "redirect";
  }

  function shown({ context, launched }: KeptContext, fetched: Fetched, request: ShowRequest): Promise<Rendering> {
    const { limits, show, signal } = request;
    const showing = { welcomeUrl: launched.proxy.welcomeUrl, document: shownDocument(fetched, request) };
    return inTime(renderPage(context, showing, show.browser), limits.totalMs, signal);
  }

  function contextOptions({ headers, profile }: FetchRequest): BrowserContextOptions {
    return {
      userAgent:
        headers["user-agent"] ?? (profile === undefined ? undefined : userAgentOf(profile)) ?? options.userAgent,
      acceptDownloads: false,
      // Requests of service workers cannot be intercepted. Contexts are new, so no page depends on a service worker.
      serviceWorkers: "block",
    };
  }

  function judge(rendering: Rendering, fetched: Fetched, { limits }: FetchRequest, tookMs: number): FetchOutcome {
    switch (rendering.kind) {
      case "rendered": {
        const body = Buffer.from(rendering.html, "utf8");
        const { pictures } = rendering;
        const tooBig = Object.entries({ page: body, ...pictures }).find(([, { length }]) => length > limits.bodyBytes);
        const detail = `the rendered ${tooBig?.[0]} is over limits.bodyBytes (${limits.bodyBytes})`;
        if (tooBig !== undefined) return { kind: "dead", because: "too_big", detail };
        return { kind: "page", page: renderedPage(fetched.page, body.length, tookMs), body, pictures };
      }
      case "left":
        return { kind: "redirect", to: rendering.to, page: renderedPage(fetched.page, 0, tookMs) };
      case "timeout":
        return { kind: "retry", because: "timeout", detail: rendering.detail };
      case "crashed":
        return { kind: "retry", because: "render_failed", detail: rendering.detail };
    }
  }

  function renderedPage(page: Page, bodyBytes: number, tookMs: number): Page {
    // The text has been decoded. It is UTF-8 now, even if its headers or markup declare another charset.
    const [type = "text/html"] = (page.contentType ?? "text/html").split(";", 1);
    const contentType = `${type.trim()}; charset=utf-8`;
    return { ...page, contentType, bodyBytes, fetchedAt: Math.round(clock.now()), tookMs: page.tookMs + tookMs };
  }

  return {
    async fetch(request) {
      // Starts the browser first, so that no request is sent for a page that cannot be rendered.
      await keeper.warm();
      const shown = { show: DEFAULT_SHOW, ...request };
      const first = await documents.fetch(request);
      const isPassed = first.kind === "retry" && first.block !== undefined && (await passChallenge(first, shown));
      const outcome = isPassed ? await documents.fetch(request) : first;
      return outcome.kind === "page" && isRenderable(outcome) ? render(outcome, shown) : outcome;
    },
    close: () => keeper.close(),
  };
}

/** Whether rendering can change the page. */
function isRenderable({ page, body }: Fetched): boolean {
  const type = page.contentType?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (body.length === 0) return false;
  if (type === "")
    return /^\s*<(!doctype html|html|head|body|script|!--)/i.test(body.subarray(0, 512).toString("latin1"));
  return type === "text/html" || type === "application/xhtml+xml";
}

function shownDocument(
  { page, body, isChallenge = false }: Fetched,
  { headers: ownHeaders }: FetchRequest,
): ShownDocument {
  const shown = Object.entries(page.headers).filter(([name]) => !NOT_SHOWN.has(name));
  const headers = { "content-type": "text/html", ...Object.fromEntries(shown) };
  return { url: page.url, status: page.status, headers, body, ownHeaders, isChallenge };
}

/** Resolves with a timeout after `leftMs`. Rejects with the signal's reason when aborted. */
async function inTime(rendering: Promise<Rendering>, leftMs: number, signal: AbortSignal): Promise<Rendering> {
  setMaxListeners(0, signal);
  let stop = (): void => {};
  const interruption = new Promise<Rendering>((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    const late: Rendering = { kind: "timeout", detail: `the page was not rendered within ${leftMs} ms (totalMs)` };
    const timer = setTimeout(resolve, Math.max(0, leftMs), late);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    stop = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    };
  });
  return Promise.race([rendering, interruption]).finally(() => stop());
}
