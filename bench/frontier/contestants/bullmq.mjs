/**
 * BullMQ in two modes. With `dedup`, the id of a job is a digest of its URL, and ended jobs are kept, so that the same
 * URL is not accepted again: a crawl needs this. Without `dedup`, ids are numbers and ended jobs are removed: this is
 * the fastest mode.
 */
import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import { join } from "node:path";
import { BULLMQ_FOLDER } from "../ensure-bullmq.mjs";

const QUEUE = "bench";

export async function openBullmq({ url, variant: { concurrency = 100 }, dedup }) {
  const { Queue, Worker } = createRequire(join(BULLMQ_FOLDER, "package.json"))("bullmq");
  const { hostname: host, port } = new URL(url);
  const connection = { host, port: Number(port), maxRetriesPerRequest: null };
  const queue = new Queue(QUEUE, { connection });
  await queue.waitUntilReady();
  const closing = [queue];
  const optionsFor = dedup
    ? ({ url }) => ({ jobId: createHash("md5").update(url).digest("base64url") })
    : () => ({ removeOnComplete: true, removeOnFail: true });

  async function startWorker(processor, options) {
    const worker = new Worker(QUEUE, processor, { connection, autorun: false, ...options });
    closing.unshift(worker);
    await worker.waitUntilReady();
    return worker;
  }

  return {
    /** BullMQ does not report duplicates; use `count` to detect them. */
    async submit(tasks) {
      await queue.addBulk(tasks.map((task) => ({ name: "fetch", data: task, opts: optionsFor(task) })));
      return tasks.length;
    },
    count: () => queue.getWaitingCount(),
    async drain(total) {
      let ended = 0;
      const worker = await startWorker(async () => undefined, { concurrency });
      await new Promise((resolve, reject) => {
        worker.on("completed", () => {
          if (++ended === total) resolve();
        });
        worker.on("failed", (_, cause) => reject(cause));
        worker.run().catch(reject);
      });
    },
    /** Starts an idle worker, which calls `onUrl` as soon as it gets a job. */
    async serve(onUrl) {
      const worker = await startWorker(async (job) => onUrl(job.data.url), { concurrency: 1 });
      worker.run().catch(() => undefined); // ends with the process
    },
    async idle(count) {
      const workers = await Promise.all(Array.from({ length: count }, () => startWorker(async () => undefined, {})));
      for (const worker of workers) worker.run().catch(() => undefined);
    },
    async close() {
      await Promise.all(closing.map((part) => part.close()));
    },
  };
}
