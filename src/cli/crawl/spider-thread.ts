/**
 * The worker thread of `read-spider.ts`: loads the spider module and posts its job. An entry point; do not import it.
 */
import { Console } from "node:console";
import { parentPort, workerData } from "node:worker_threads";
import { isTrawlError } from "../../errors.ts";
import { jobOfSpider, loadSpider } from "../../spider/load-spider.ts";
import type { JobInput } from "../../submit/job-schema.ts";
import type { SpiderResult } from "./read-spider.ts";

// Only results are written to stdout. Output of `console.log` in a spider is written to stderr.
globalThis.console = new Console(process.stderr);

async function readJob(path: string): Promise<SpiderResult> {
  try {
    return { kind: "job", job: jobOfSpider(await loadSpider(path), path) as JobInput };
  } catch (error) {
    if (isTrawlError(error)) return { kind: "refused", code: error.code, message: error.message };
    return { kind: "broken", cause: error };
  }
}

parentPort?.postMessage(await readJob((workerData as { path: string }).path));
