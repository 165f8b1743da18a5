/** Open dashboards as a load on a server: real ones in Chromium, or programs that ask what a real one was seen to ask. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const CLIENTS = fileURLToPath(new URL("clients.mjs", import.meta.url));
/** Longer than any page waits between two looks. */
const WATCH_MS = 30_000;

/** What an open tab asks for, and how often, as seen at one that was left open for a while; its stream of events apart. */
export async function watchTab(viewers, url) {
  const { page, close } = await viewers.open();
  const seen = new Map();
  let isRunning = false;
  page.on("request", (request) => {
    const { pathname, search } = new URL(request.url());
    if (!isRunning || !pathname.startsWith("/v1/") || pathname === "/v1/events") return;
    // History is asked for from a time on: what counts is that it is.
    const path = pathname + search;
    seen.set(pathname, { path, times: (seen.get(pathname)?.times ?? 0) + 1 });
  });
  await page.goto(url);
  await sleep(3_000); // what it asks once is not what it costs to be open
  isRunning = true;
  await sleep(WATCH_MS);
  await close();
  return [...seen.values()].map(({ path, times }) => ({ path, everyMs: Math.round(WATCH_MS / times) }));
}

/** A process that opens and closes them; it is there all the time, so that what it takes to start is not measured. */
export function startClients(url, count, requests) {
  const child = spawn(process.execPath, [CLIENTS, url, String(count), JSON.stringify(requests)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const turn = async () => {
    child.stdin.write("\n");
    await once(child.stdout, "data");
  };
  return {
    pid: child.pid,
    async open() {
      await turn();
      return turn;
    },
    async end() {
      child.stdin.end();
      await once(child, "close");
    },
  };
}

/** Each in a context of its own, so that they share nothing. */
export async function openTabs(viewers, url, count) {
  const tabs = await Promise.all(Array.from({ length: count }, () => viewers.open()));
  await Promise.all(tabs.map(({ page }) => page.goto(url)));
  return async () => void (await Promise.all(tabs.map(({ close }) => close())));
}
