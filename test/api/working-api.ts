/** A local site and a worker that fetches from it, for tests of the server. */
import { type Handler, type Origin, type Routes, startOrigin } from "../site/origin.ts";
import { type Api, closeLater, startApi } from "./harness.ts";

export type Working = Api & { site: Origin; startWorker(): Promise<void> };

/** Starts the server and the site. The worker starts when the test calls `startWorker`. */
export async function startWorking(
  content: Handler | Routes,
  settings: Record<string, unknown> = {},
): Promise<Working> {
  const api = await startApi({ allowPrivate: ["127.0.0.0/8"], rate: "unlimited", ...settings });
  const site = await startOrigin(content);
  closeLater(() => site.close());
  return { ...api, site, startWorker: () => startWorker(api) };
}

async function startWorker({ trawl }: Api): Promise<void> {
  const worker = await trawl.createWorker({
    queues: ["fetch", "deliver"],
    allowHosts: [],
    mayUseAllSecrets: false,
    unreadableJob: "ends-task",
    onFinished: () => {},
    maxTasks: Number.POSITIVE_INFINITY,
  });
  worker.start();
  closeLater(() => worker.stop());
}

/** Resolves with the job once it has ended. */
export async function ended({ request }: Api, id: unknown): Promise<Record<string, unknown>> {
  for (;;) {
    const { json } = await request("GET", `/v1/jobs/${id}`);
    if (json.finishedAt !== null) return json;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
