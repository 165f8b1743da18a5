#!/usr/bin/env node
// Serves the linked site in a separate process. Logs with each request the earliest time at which it may have arrived
// (see rate-excess.ts).
//   node test/chaos/serve-site.mjs '{"log":"access.jsonl","site":{"pages":2000}}'
// Prints its URL as the first line. SIGTERM ends it with exit code 0.
import { createJiti } from "jiti";

const jiti = createJiti(import.meta.url);
const { startLinkedSite } = await jiti.import("../site/linked-site.ts");
const { createAccessLogWriter } = await jiti.import("../site/access-log.ts");
const { watchIdleTime } = await jiti.import("./rate-excess.ts");

const { log, site } = JSON.parse(process.argv[2] ?? "{}");
const writer = createAccessLogWriter(log);
const idleWatch = watchIdleTime();
const running = await startLinkedSite(site, {
  onArrival: (arrival) => writer.onArrival({ ...arrival, arrivedAfter: idleWatch.lastIdleAt() }),
  onEnd: writer.onEnd,
});
process.once("SIGTERM", async () => {
  await running.close();
  process.exit(0);
});
console.log(running.url);
