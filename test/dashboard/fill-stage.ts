/** Fills a stage with data for every page: jobs in every state, dead letters with every reason, schedules, keys. */
import type { JobInput } from "../../src/client/client.ts";
import { CHROMIUM } from "../browser/chromium.ts";
import { waitUntil } from "../services/wait-until.ts";
import { fillHistory } from "./fill-history.ts";
import { fillProxies } from "./fill-proxies.ts";
import type { Stage } from "./stage.ts";

export type StageJobs = Record<
  "shop" | "books" | "news" | "papers" | "closed" | "weather" | "prices" | "urgent",
  string
> & {
  /** Undefined if no browser is installed. */
  views: string | undefined;
};

const FAST = { rate: "unlimited", perSite: 8 } as const;
const QUICK = { max: 1, backoff: "100ms" } as const;
/** Long enough for a machine that runs other tests. */
const TIMEOUT_MS = 150_000;

const JOBS = {
  shop: {
    name: "Shop, all products",
    urls: ["http://shop.example/"],
    follow: { exclude: ["**/tag/**"] },
    extract: {
      title: "h1",
      price: { select: ".price", type: "number", required: true },
      sku: ".sku",
      tags: ["a.tag"],
      stock: ".stock",
    },
    politeness: FAST,
    retries: QUICK,
    keep: { bodies: true },
  },
  books: {
    name: "Books, whole catalogue",
    urls: ["http://books.example/"],
    follow: {},
    extract: { title: "h1", price: { select: ".price", type: "number" }, isbn: ".isbn" },
    politeness: { rate: "6/s", perSite: 4 },
  },
  news: {
    name: "News, front pages",
    urls: ["http://news.example/"],
    follow: {},
    extract: { headline: "h1" },
    politeness: { rate: "20/s", perSite: 2 },
  },
  papers: {
    name: "Papers of the old archive",
    urls: paperUrls(),
    extract: { title: "h1", year: { select: ".year", type: "number" } },
    politeness: { ...FAST, robots: false },
    retries: QUICK,
    limits: { bodyBytes: 20_000 },
  },
  closed: { name: "A shop that is closed", urls: ["http://closed.example/", "http://closed.example/prices"] },
  weather: {
    name: "Weather, every station",
    urls: Array.from({ length: 40 }, (_, nth) => `http://weather.example/station/${nth}`),
    extract: { wind: ".wind" },
  },
  prices: {
    name: "Price check",
    urls: Array.from({ length: 12 }, (_, nth) => `http://prices.example/list/${nth}`),
    politeness: { rate: "1/m" },
  },
  urgent: {
    name: "Urgent: new arrivals",
    urls: Array.from({ length: 25 }, (_, nth) => `http://books.example/book/${nth + 1}`),
    politeness: { rate: "6/s" },
    queue: "high_priority",
    priority: 0,
  },
} satisfies Record<string, JobInput>;

const VIEWS: JobInput = {
  name: "Harbour views, rendered",
  urls: [1, 2, 3].map((nth) => `http://app.example/view/${nth}`),
  render: "always",
  browser: { waitFor: { selector: ".title" }, screenshot: "view" },
  extract: { title: ".title" },
  politeness: FAST,
  keep: { bodies: true },
};

/** Resolves when every job has reached its intended state. */
export async function fillStage(stage: Stage): Promise<StageJobs> {
  const { api } = stage;
  await fillHistory(stage);
  await fillProxies(stage);
  const views = CHROMIUM === undefined ? undefined : await submitViews(stage);
  const ids = {} as Record<keyof typeof JOBS, string>;
  // Sequentially, so that the jobs are listed in this order.
  for (const name of Object.keys(JOBS) as (keyof typeof JOBS)[]) ids[name] = (await api.submit(JOBS[name])).id;
  await Promise.all([
    api.job(ids.weather).pause(),
    api.job(ids.prices).cancel(),
    api.sites.set("shop.example", { rate: "50/s", burst: 5, perSite: 8 }),
    fillSchedules(stage),
    fillKeys(stage),
  ]);
  const ending = [ids.shop, ids.papers, ids.closed, ...(views === undefined ? [] : [views])];
  await Promise.all(ending.map((id) => api.job(id).wait({ signal: AbortSignal.timeout(TIMEOUT_MS) })));
  if (!(await waitUntil(() => isInBackoff(stage, "news.example"), TIMEOUT_MS, 200))) {
    throw new Error("news.example is not in backoff");
  }
  return { ...ids, views };
}

/** Also starts a worker for the queue render. */
async function submitViews(stage: Stage): Promise<string> {
  const { id } = await stage.api.submit(VIEWS);
  await stage.worker(["--queues", "render", "-c", "4"]);
  return id;
}

async function fillSchedules({ api }: Stage): Promise<void> {
  const job = { name: "Shop, new prices", urls: ["http://shop.example/delivery/"], extract: { title: "h1" } };
  await api.schedules.add({ name: "Prices, every morning", cron: "0 6 * * 1-5", timeZone: "Europe/Berlin", job });
  const often = await api.schedules.add({ name: "Delivery notes", every: "15m", job: { ...job, name: "Delivery" } });
  await api.schedules.add({ name: "Old weekly list", cron: "30 22 * * 0", paused: true, job });
  await api.schedules.run(often.id);
}

async function fillKeys({ api }: Stage): Promise<void> {
  await api.keys.add({ name: "Reports", scopes: ["read"] });
  await api.keys.add({
    name: "Shop team",
    scopes: ["read", "submit"],
    tenant: "shop",
    quotas: { jobs: 20, pending: 100_000 },
  });
  const old = await api.keys.add({ name: "Left the company", scopes: ["read", "submit"] });
  await api.keys.revoke(old.id);
}

async function isInBackoff({ api }: Stage, name: string): Promise<boolean> {
  for await (const { site, blockedUntil } of api.sites.list()) if (site === name) return blockedUntil !== null;
  return false;
}

function paperUrls(): string[] {
  const kinds = { paper: 30, missing: 14, gone: 6, broken: 9, locked: 3, loop: 2, big: 4, garbage: 2 };
  const own = Object.entries(kinds).flatMap(([kind, count]) =>
    Array.from({ length: count }, (_, nth) => `http://archive.example/${kind}/${nth}`),
  );
  return [...own, "http://192.168.7.7/intranet"];
}
