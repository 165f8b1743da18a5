/** A broker, a store and a worker, with which one job after the other crawls a site. */
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type App, openApp } from "../../src/compose/app.ts";
import { resolveConfig } from "../../src/config/resolve.ts";
import type { Config } from "../../src/config/schema.ts";
import { hasEnded, ledgerGap } from "../../src/domain/job.ts";
import type { JobView } from "../../src/frontier/frontier-admin.ts";
import type { StoredPage } from "../../src/store/store.ts";
import type { JobInput } from "../../src/submit/job-schema.ts";
import { parseJob, resolveJob } from "../../src/submit/resolve-job.ts";
import { newFolder } from "../e2e/folder.ts";
import { submitDirectly } from "../submit/submit-directly.ts";

export type Crawled = {
  job: JobView;
  /** Titles of the records, sorted. */
  titles: string[];
  pages: readonly StoredPage[];
  /** Dead letters as `path status`. */
  dead: string[];
};

export type World = {
  trawl: App;
  config: Config;
  folder: string;
  /** Returns the id of the job. */
  submit(job: JobInput): Promise<string>;
  /** Submits the job and runs it to its end. */
  crawl(job: JobInput): Promise<Crawled>;
};

export async function openWorld(settings: Record<string, unknown> = {}): Promise<World> {
  const folder = newFolder();
  const values = {
    broker: `sqlite:${join(folder, "broker.db")}`,
    store: `sqlite:${join(folder, "store.db")}`,
    bodies: `file:${join(folder, "bodies")}`,
    ...{ logLevel: "silent", flushMs: 5, ...settings },
  };
  const config = resolveConfig([{ from: "test", values }]);
  const trawl = await openApp(config, () => {});
  onTestFinished(() => trawl.close());
  let count = 0;

  async function submit(written: JobInput): Promise<string> {
    count += 1;
    const input = parseJob({
      extract: { title: "h1" },
      follow: {},
      ...written,
      politeness: { rate: "unlimited", ...written.politeness },
      retries: { max: 0 },
    });
    const context = { id: `j${count}`, requestId: "r", queue: undefined, typedHosts: ["127.0.0.1"], out: undefined };
    const spec = resolveJob(input, config, context);
    await submitDirectly({ frontier: trawl.frontier, now: () => trawl.clock.now() }, spec, input.urls ?? []);
    return spec.id;
  }

  async function crawl(job: JobInput): Promise<Crawled> {
    const jobId = await submit(job);
    await workToEnd(trawl, jobId);
    return resultsOf(trawl, jobId);
  }
  return { trawl, config, folder, submit, crawl };
}

export async function workToEnd(trawl: App, jobId: string): Promise<void> {
  const job = await trawl.frontier.findJob(jobId);
  if (job !== undefined && hasEnded(job.state)) return;
  let finish = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const worker = await trawl.createWorker({
    queues: ["fetch", "parse", "render"],
    allowHosts: ["127.0.0.1"],
    mayUseAllSecrets: false,
    unreadableJob: "ends-worker",
    onFinished: (id) => (id === jobId ? finish() : undefined),
    maxTasks: Number.POSITIVE_INFINITY,
  });
  worker.start();
  await Promise.race([finished, worker.ended]);
  await worker.stop();
}

export async function resultsOf(trawl: App, jobId: string): Promise<Crawled> {
  const job = await trawl.frontier.findJob(jobId);
  if (job === undefined || !hasEnded(job.state)) throw new Error(`job ${jobId} has not ended`);
  if (ledgerGap(job.counts) !== 0) throw new Error(`the ledger does not balance: ${ledgerGap(job.counts)}`);
  const records = await trawl.store.readRecords(jobId, 0, 10_000);
  if (records.length !== job.tally.records) throw new Error(`${records.length} records, counted ${job.tally.records}`);
  const letters = await trawl.frontier.listDead({ jobId }, 1000);
  return {
    job,
    titles: records.map(({ fields }) => String(fields.title)).sort(),
    pages: await trawl.store.readPages(jobId, 0, 10_000),
    dead: letters.map(({ url, status }) => `${new URL(url).pathname} ${status ?? ""}`).sort(),
  };
}
