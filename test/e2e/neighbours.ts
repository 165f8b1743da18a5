/**
 * Two sites in one job: a slow one with very many URLs, queued first, and a quick one with few. The logs of the sites say
 * how long the quick one takes, alone or beside the other.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { keepLookout, type Sighting } from "../chaos/lookout.ts";
import { type Handler, type Origin, startOrigin } from "../site/origin.ts";

export type Neighbours = {
  /** URLs of the slow site, all queued before the first of the quick one; with 0 the quick site is alone. */
  slowUrls: number;
  slowPerSecond: number;
  quickUrls: number;
  /** Empty; the caller removes it. */
  folder: string;
  /** The built command line. */
  main: string;
};

export type Encounter = {
  /** From the first request at either site to the last answer of the quick one. */
  quickMs: number;
  quickRequests: number;
  /** Requests to the slow site up to the last answer of the quick one. */
  slowRequests: Sighting[];
};

/** Runs until the quick site is done, then interrupts. */
export async function meet({ slowUrls, slowPerSecond, quickUrls, folder, main }: Neighbours): Promise<Encounter> {
  const lookout = keepLookout();
  const sightings: Sighting[] = [];
  const slow = await startOrigin(anyPage, {
    onArrival: ({ arrivedAt }) => void sightings.push({ arrivedAt, seenFrom: lookout.seenFrom() }),
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
    return encounterAt(slow, quick, sightings);
  } finally {
    lookout.stop();
    await Promise.all([slow.close(), quick.close()]);
  }
}

const anyPage: Handler = (request, response) => {
  const isRobots = request.url === "/robots.txt";
  response.writeHead(isRobots ? 404 : 200, { "content-type": "text/html" });
  response.end(`<h1>${request.url}</h1>`);
};

function jobOf(slow: Origin, quick: Origin, counts: Pick<Neighbours, "slowUrls" | "slowPerSecond" | "quickUrls">) {
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
  const words = [main, "crawl", "job.json", "--json", "--quiet"];
  const child = spawn(process.execPath, words, { cwd: folder, env, stdio: ["ignore", "ignore", "pipe"] });
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

function encounterAt(slow: Origin, quick: Origin, sightings: readonly Sighting[]): Encounter {
  const pages = quick.log.filter(({ path }) => path !== "/robots.txt");
  const endAt = Math.max(...pages.map(({ endedAt = 0 }) => endedAt));
  const startAt = Math.min(...[...slow.log, ...quick.log].map(({ arrivedAt }) => arrivedAt));
  const slowRequests = sightings.filter(({ arrivedAt }) => arrivedAt <= endAt);
  return { quickMs: endAt - startAt, quickRequests: pages.length, slowRequests };
}
