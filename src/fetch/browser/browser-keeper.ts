/**
 * Keeps one browser for the process: started when first wanted, replaced when it has crashed, hangs, or has shown
 * `pagesPerBrowser` pages. Called by many tasks at once; each gets a context of its own, which is closed whatever
 * happens. A browser that is replaced ends with its last context. A crash of this process leaves nothing: see watchdog.ts.
 */
import type { BrowserContext, BrowserContextOptions } from "playwright-core";
import type { Log } from "../../runtime/log.ts";
import type { LaunchedBrowser } from "./launch-browser.ts";

export type BrowserKeeperOptions = {
  /** Browsers grow with every page; after so many a new one is cheaper. */
  pagesPerBrowser: number;
  /** A context that is not closed after so long is stuck, and its browser with it. */
  closeMs: number;
};

export type BrowserKeeper = {
  /** Runs `work` in a context of its own. */
  withContext<T>(
    options: BrowserContextOptions,
    work: (context: BrowserContext, launched: LaunchedBrowser) => Promise<T>,
  ): Promise<T>;
  /** Ends every browser; work under way fails. */
  close(): Promise<void>;
};

type Kept = { launched: Promise<LaunchedBrowser>; begun: number; open: number; isRetired: boolean };

export function createBrowserKeeper(
  { launch, log }: { launch: () => Promise<LaunchedBrowser>; log: Log },
  { pagesPerBrowser, closeMs }: BrowserKeeperOptions,
): BrowserKeeper {
  const all = new Set<Kept>();
  let current: Kept | undefined;

  function take(): Kept {
    if (current !== undefined && current.begun >= pagesPerBrowser) retire(current);
    current ??= begin();
    current.begun++;
    current.open++;
    return current;
  }

  function begin(): Kept {
    const kept: Kept = { launched: launch(), begun: 0, open: 0, isRetired: false };
    all.add(kept);
    kept.launched.then(
      ({ browser, folder }) => {
        log.info("browser.started", { version: browser.version(), folder });
        browser.on("disconnected", () => {
          if (!kept.isRetired) log.warn("browser.crashed", { pages: kept.begun });
          retire(kept);
        });
      },
      () => retire(kept), // the task that waits for it tells why
    );
    return kept;
  }

  function retire(kept: Kept): void {
    kept.isRetired = true;
    if (current === kept) current = undefined;
    if (kept.open === 0) void end(kept);
  }

  async function end(kept: Kept): Promise<void> {
    const launched = await kept.launched.catch(() => undefined); // there is none to end
    await launched?.end();
    all.delete(kept);
  }

  function giveBack(kept: Kept): void {
    kept.open--;
    if (kept.isRetired && kept.open === 0) void end(kept);
  }

  async function closeContext(context: BrowserContext, kept: Kept): Promise<void> {
    const isClosed = await within(closeMs, context.close());
    if (isClosed) return;
    log.warn("browser.stuck", { pages: kept.begun });
    retire(kept);
    await end(kept);
  }

  return {
    async withContext(options, work) {
      const kept = take();
      try {
        const launched = await kept.launched;
        const context = await launched.browser.newContext(options);
        try {
          return await work(context, launched);
        } finally {
          await closeContext(context, kept);
        }
      } finally {
        giveBack(kept);
      }
    },
    async close() {
      current = undefined;
      for (const kept of all) kept.isRetired = true;
      await Promise.all([...all].map(end));
    },
  };
}

/** False if it takes longer, or fails because the browser has gone. */
async function within(ms: number, closing: Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  const done = closing.then(
    () => true,
    () => true, // nothing of it is left to close
  );
  return Promise.race([done, late]).finally(() => clearTimeout(timer));
}
