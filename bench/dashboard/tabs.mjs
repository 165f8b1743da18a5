/**
 * Puts the load of open dashboards on a server: with real tabs in Chromium, or with clients that send the same
 * requests.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const CLIENTS = fileURLToPath(new URL("clients.mjs", import.meta.url));
/** Longer than the poll interval of any page. */
const WATCH_MS = 30_000;

/** Records which requests an open tab sends, and how often, except for its event stream. */
export async function watchTab(viewers, url) {
  const { page, close } = await viewers.open();
  const seen = new Map();
  let isRunning = false;
  page.on("request", (request) => {
    const { pathname, search } = new URL(request.url());
    if (!isRunning || !pathname.startsWith("/v1/") || pathname === "/v1/events") return;
    // The query of the history contains a time, so requests are counted by their path without the query.
    const path = pathname + search;
    seen.set(pathname, { path, times: (seen.get(pathname)?.times ?? 0) + 1 });
  });
  await page.goto(url);
  await sleep(3_000); // requests that a tab sends only once are not counted
  isRunning = true;
  await sleep(WATCH_MS);
  await close();
  return [...seen.values()].map(({ path, times }) => ({ path, everyMs: Math.round(WATCH_MS / times) }));
}

/** Starts a process that opens and closes the clients. It runs all the time, so that its start is not measured. */
export function startClients(url, count, requests) {
  const child = spawn(process.execPath, [CLIENTS, url, String(count), JSON.stringify(requests)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const toggle = async () => {
    child.stdin.write("\n");
    await once(child.stdout, "data");
  };
  return {
    pid: child.pid,
    async open() {
      await toggle();
      return toggle;
    },
    async end() {
      child.stdin.end();
      await once(child, "close");
    },
  };
}

/** Opens each tab in its own browser context, so that the tabs share nothing. */
export async function openTabs(viewers, url, count) {
  const tabs = await Promise.all(Array.from({ length: count }, () => viewers.open()));
  await Promise.all(tabs.map(({ page }) => page.goto(url)));
  return async () => void (await Promise.all(tabs.map(({ close }) => close())));
}
