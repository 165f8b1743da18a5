/**
 * Crawls two sites in one job: a slow site with very many URLs, which are queued first, and a quick site with few. The
 * logs of the sites show how long the quick site takes, alone and together with the slow one.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TimedArrival, watchIdleTime } from "../chaos/rate-excess.ts";
import { type Handler, type Origin, startOrigin } from "../site/origin.ts";

export type TwoSitesOptions = {
  /**
   * URLs of the slow site, all queued before the first URL of the quick site. With 0, the quick site is crawled alone.
   */
  slowUrls: number;
  slowPerSecond: number;
  quickUrls: number;
  /** An empty folder, which the caller removes. */
  folder: string;
  /** The built command line. */
  main: string;
};

export type TwoSitesResult = {
  /** The time from the first request to either site to the last response of the quick site. */
  quickMs: number;
  quickRequests: number;
  /** Requests to the slow site up to the last response of the quick site. */
  slowRequests: TimedArrival[];
};

/** Crawls until all pages of the quick site are answered, then interrupts the crawl. */
export async function crawlTwoSites({
  slowUrls,
  slowPerSecond,
  quickUrls,
  folder,
  main,
}: TwoSitesOptions): Promise<TwoSitesResult> {
  const idleWatch = watchIdleTime();
  const arrivals: TimedArrival[] = [];
  const slow = await startOrigin(anyPage, {
    onArrival: ({ arrivedAt }) => void arrivals.push({ arrivedAt, arrivedAfter: idleWatch.lastIdleAt() }),
  });
  let answered = 0;
  let allAnswered = () => {};
  const done = new Promise<void>((resolve) => {
    allAnswered = resolve;
  });
  const quick = await startOrigin(anyPage, {
    onEnd: ({ path }) => {
      if (path !== "/robots.txt" && ++answered === quickUrls) allAnswered();
    },
  });
  try {
    const job = jobOf(slow, quick, { slowUrls, slowPerSecond, quickUrls });
    writeFileSync(join(folder, "job.json"), JSON.stringify(job));
    await crawlUntil(done, main, folder);
    return resultOf(slow, quick, arrivals);
  } finally {
    idleWatch.stop();
    await Promise.all([slow.close(), quick.close()]);
  }
}

const anyPage: Handler = (request, response) => {
  const isRobots = request.url === "/robots.txt";
  response.writeHead(isRobots ? 404 : 200, { "content-type": "text/html" });
  response.end(`<h1>${request.url}</h1>`);
};

function jobOf(slow: Origin, quick: Origin, counts: Pick<TwoSitesOptions, "slowUrls" | "slowPerSecond" | "quickUrls">) {
  const urls = (origin: Origin, count: number) => Array.from({ length: count }, (_, n) => `${origin.url}/${n}`);
  return {
    name: "neighbours",
    urls: [...urls(slow, counts.slowUrls), ...urls(quick, counts.quickUrls)],
    politeness: {
      rate: "unlimited",
      perSite: 8,
      sites: { [slow.site]: { rate: `${counts.slowPerSecond}/s` } },
    },
  };
}

async function crawlUntil(done: Promise<void>, main: string, folder: string): Promise<void> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("TRAWL_")));
  const args = [main, "crawl", "job.json", "--json", "--quiet"];
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ["ignore", "ignore", "pipe"] });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const ended = once(child, "close");
  await Promise.race([done, ended.then(([code]) => failUnlessDone(code, stderr))]);
  child.kill("SIGINT");
  await ended;
}

function failUnlessDone(code: number | null, stderr: string): void {
  if (code !== 0) throw new Error(`the crawl ended too early with code ${code}: ${stderr}`);
}

function resultOf(slow: Origin, quick: Origin, arrivals: readonly TimedArrival[]): TwoSitesResult {
  const pages = quick.log.filter(({ path }) => path !== "/robots.txt");
  const endAt = Math.max(...pages.map(({ endedAt = 0 }) => endedAt));
  const startAt = Math.min(...[...slow.log, ...quick.log].map(({ arrivedAt }) => arrivedAt));
  const slowRequests = arrivals.filter(({ arrivedAt }) => arrivedAt <= endAt);
  return { quickMs: endAt - startAt, quickRequests: pages.length, slowRequests };
}
