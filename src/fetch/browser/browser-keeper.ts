/**
 * Keeps one browser for the process. It is started on first use and replaced when it has crashed, hangs, or has
 * rendered `pagesPerBrowser` pages. Many tasks call it at once; each gets its own context and closes it. A replaced
 * browser ends when its last context is closed. A crash of this process leaves no browser behind: see watchdog.ts.
 */
import type { BrowserContext, BrowserContextOptions } from "playwright-core";
import { TrawlError } from "../../errors.ts";
import type { Log } from "../../runtime/log.ts";
import type { PassLimits } from "../egress/filter-proxy.ts";
import type { LaunchedBrowser } from "./launch-browser.ts";

export type BrowserKeeperOptions = {
  /** A browser is replaced after this many pages, because its memory grows with every page. */
  pagesPerBrowser: number;
  /** A context that is not closed within this time is stuck, and so is its browser. */
  closeMs: number;
  /** A context that is not opened within this time is stuck too. */
  launchMs: number;
};

/** Called when a browser was started, and when one ended unexpectedly. */
export type BrowserWatch = { launched(): void; crashed(): void };

/** A context of one task. */
export type KeptContext = {
  context: BrowserContext;
  launched: LaunchedBrowser;
  /** Whether its browser has crashed or was ended. The cause is unknown. */
  isGone(): boolean;
  /** Closes the context in any state. Never throws. A second call has no effect. */
  close(): Promise<void>;
};

export type BrowserKeeper = {
  /** Resolves when a browser runs. Rejects with BROWSER_UNAVAILABLE if it cannot be started. */
  warm(): Promise<void>;
  /** Opens a new context. The caller must close it. */
  open(options: BrowserContextOptions, limits: PassLimits): Promise<KeptContext>;
  /** Ends all browsers, including one that is starting. Current and later calls fail. */
  close(): Promise<void>;
};

type Kept = { launched: Promise<LaunchedBrowser>; begun: number; open: number; isRetired: boolean; isLost: boolean };

export function createBrowserKeeper(
  { launch, log, watch }: { launch: (signal: AbortSignal) => Promise<LaunchedBrowser>; log: Log; watch?: BrowserWatch },
  { pagesPerBrowser, closeMs, launchMs }: BrowserKeeperOptions,
): BrowserKeeper {
  const all = new Set<Kept>();
  const closing = new AbortController();
  let current: Kept | undefined;

  function take(): Kept {
    const kept = currentOne();
    kept.begun++;
    kept.open++;
    return kept;
  }

  function currentOne(): Kept {
    if (closing.signal.aborted) throw stopping();
    if (current !== undefined && current.begun >= pagesPerBrowser) retire(current);
    current ??= begin();
    return current;
  }

  function begin(): Kept {
    const kept: Kept = { launched: launch(closing.signal), begun: 0, open: 0, isRetired: false, isLost: false };
    all.add(kept);
    kept.launched.then(
      ({ browser, folder }) => {
        watch?.launched();
        log.info("browser.started", { version: browser.version(), folder });
        browser.on("disconnected", () => {
          if (!kept.isRetired) recordCrash(kept);
          retire(kept);
        });
      },
      () => retire(kept), // the task that waits for the browser reports the error
    );
    return kept;
  }

  function recordCrash({ begun }: Kept): void {
    watch?.crashed();
    log.warn("browser.crashed", { pages: begun });
  }

  function retire(kept: Kept): void {
    kept.isRetired = true;
    if (current === kept) current = undefined;
    if (kept.open === 0) void end(kept);
  }

  async function end(kept: Kept): Promise<void> {
    const launched = await kept.launched.catch(() => undefined); // it did not start
    await launched?.end();
    all.delete(kept);
  }

  function giveBack(kept: Kept): void {
    kept.open--;
    if (kept.isRetired && kept.open === 0) void end(kept);
  }

  async function openIn(kept: Kept, options: BrowserContextOptions, limits: PassLimits): Promise<KeptContext> {
    const launched = await kept.launched;
    const { url: server } = launched.proxy;
    const pass = launched.proxy.admit(limits);
    const { username, password } = pass;
    const opening = launched.browser.newContext({ ...options, proxy: { server, username, password } });
    if (!(await within(launchMs, opening))) await endStuck(kept);
    const context = await opening.catch((cause: unknown) => {
      pass.revoke();
      throw cause;
    });
    // A spider has access to its tab and context. It must not reach the browser, which renders pages of other tasks.
    context.browser = () => null;
    let closing: Promise<void> | undefined;
    const close = async (): Promise<void> => {
      if (!(await within(closeMs, context.close()))) await endStuck(kept);
      pass.revoke();
      giveBack(kept);
    };
    return {
      context,
      launched,
      isGone: () => kept.isLost || !launched.browser.isConnected(),
      close: () => {
        closing ??= close();
        return closing;
      },
    };
  }

  async function endStuck(kept: Kept): Promise<void> {
    log.warn("browser.stuck", { pages: kept.begun });
    kept.isLost = true;
    retire(kept);
    await end(kept);
  }

  async function open(options: BrowserContextOptions, limits: PassLimits): Promise<KeptContext> {
    const kept = take();
    try {
      return await openIn(kept, options, limits);
    } catch (error) {
      giveBack(kept);
      throw error;
    }
  }

  return {
    async warm() {
      await currentOne().launched;
    },
    open,
    async close() {
      closing.abort();
      current = undefined;
      for (const kept of all) kept.isRetired = true;
      await Promise.all([...all].map(end));
    },
  };
}

function stopping(): TrawlError {
  return new TrawlError("BROWSER_UNAVAILABLE", {
    op: "browser.open",
    message: "this process is stopping and does not start a browser",
  });
}

/**
 * Waits for `work` for at most `ms`. Returns false on timeout, and true if `work` settles in time, even with an error.
 */
async function within(ms: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  const done = work.then(
    () => true,
    () => true, // the browser has ended, and the context with it
  );
  return Promise.race([done, late]).finally(() => clearTimeout(timer));
}
