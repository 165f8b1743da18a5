/**
 * BullMQ in its two ways. With `dedup` the job's id is a digest of its URL and ended jobs are kept, or the same URL would
 * be taken again: what a crawl needs. Without, ids are numbers and ended jobs are removed: the most BullMQ can do.
 */
import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import { join } from "node:path";
import { BULLMQ_HOME } from "../bullmq-home.mjs";

const QUEUE = "bench";

export async function openBullmq({ url, variant: { concurrency = 100 }, dedup }) {
  const { Queue, Worker } = createRequire(join(BULLMQ_HOME, "package.json"))("bullmq");
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
    /** It does not tell which were there before; `count` does. */
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
    /** A worker with nothing to do, which calls `onUrl` as soon as it has. */
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
