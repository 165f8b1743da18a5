/**
 * Reads the job of a spider in a worker thread. A module that blocks or calls `process.exit()` while it loads would
 * otherwise block or end the process that handles Ctrl-C. The thread is terminated after it has posted its result.
 */
import { Worker } from "node:worker_threads";
import { type ErrorCode, TrawlError } from "../../errors.ts";
import type { JobInput } from "../../submit/job-schema.ts";

/** The message from the thread. */
export type SpiderResult =
  | { kind: "job"; job: JobInput }
  | { kind: "refused"; code: ErrorCode; message: string }
  | { kind: "broken"; cause: unknown };

/** The job of a spider. Throws BAD_SPIDER or BAD_JOB. */
export async function readSpiderJob(path: string): Promise<JobInput> {
  const result = await loadInThread(path);
  if (result.kind === "job") return result.job;
  if (result.kind === "broken") throw result.cause;
  throw new TrawlError(result.code, { op: "spider.load", message: result.message, detail: { path } });
}

async function loadInThread(path: string): Promise<SpiderResult> {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const thread = new Worker(new URL(`./spider-thread.${extension}`, import.meta.url), { workerData: { path } });
  try {
    return await new Promise<SpiderResult>((resolve) => {
      thread.once("message", resolve);
      thread.once("error", (cause) => resolve(badSpider(path, `cannot be loaded: ${cause.message}`)));
      thread.once("exit", (code) => resolve(badSpider(path, `calls process.exit(${code}) while loading`)));
    });
  } finally {
    await thread.terminate();
  }
}

function badSpider(path: string, problem: string): SpiderResult {
  const message = `${path}: ${problem}; a spider module must only define and export the spider; move other code into handlers`;
  return { kind: "refused", code: "BAD_SPIDER", message };
}
