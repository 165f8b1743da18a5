#!/usr/bin/env node
// Serves the linked site in a process of its own, and notes with each request since when it may have been there (lookout.ts).
//   node test/chaos/serve-site.mjs '{"log":"access.jsonl","site":{"pages":2000}}'
// The first line it prints is its URL. SIGTERM ends it with exit code 0.
import { createJiti } from "jiti";

const jiti = createJiti(import.meta.url);
const { startLinkedSite } = await jiti.import("../site/linked-site.ts");
const { createAccessLogWriter } = await jiti.import("../site/access-log.ts");
const { keepLookout } = await jiti.import("./lookout.ts");

const { log, site } = JSON.parse(process.argv[2] ?? "{}");
const writer = createAccessLogWriter(log);
const lookout = keepLookout();
const running = await startLinkedSite(site, {
  onArrival: (arrival) => writer.onArrival({ ...arrival, seenFrom: lookout.seenFrom() }),
  onEnd: writer.onEnd,
});
process.once("SIGTERM", async () => {
  await running.close();
  process.exit(0);
});
console.log(running.url);
