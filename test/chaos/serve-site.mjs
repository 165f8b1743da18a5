#!/usr/bin/env node
// Serves the linked site in a process of its own, and notes with each request since when it may have been there.
//   node test/chaos/serve-site.mjs '{"log":"access.jsonl","site":{"pages":2000}}'
// The first line it prints is its URL. SIGTERM ends it with exit code 0.
//
// A log says when its writer looked. A process that waits for a processor, or for its disk, looks late, and at several
// requests at once. So this one looks at the clock every millisecond as well: `seenFrom` of a request is the last time
// it did before, and the request came after that.
import { performance } from "node:perf_hooks";
import { createJiti } from "jiti";

const jiti = createJiti(import.meta.url);
const { startLinkedSite } = await jiti.import("../site/linked-site.ts");
const { createAccessLogWriter } = await jiti.import("../site/access-log.ts");

const LOOK_EVERY_MS = 1;
const { log, site } = JSON.parse(process.argv[2] ?? "{}");
const writer = createAccessLogWriter(log);
let lastLookAt = now();
let lookAt = now();
setInterval(() => {
  [lastLookAt, lookAt] = [lookAt, now()];
}, LOOK_EVERY_MS).unref();

const running = await startLinkedSite(site, {
  // The look of this very turn of the event loop came before its requests were read: the one before it counts.
  onArrival: (arrival) => writer.onArrival({ ...arrival, seenFrom: lastLookAt }),
  onEnd: writer.onEnd,
});
process.once("SIGTERM", async () => {
  await running.close();
  process.exit(0);
});
console.log(running.url);

function now() {
  return performance.timeOrigin + performance.now();
}
