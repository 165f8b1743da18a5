#!/usr/bin/env node
// Serves the sites of a fleet in a separate process, and writes their log (web-server.ts).
//   node test/chaos/fleet/serve-web.mjs '{"log":"visits.jsonl","web":{"sites":20,"pages":1500,…}}'
// Prints {"port":N} first, then {"arrived":N} whenever more requests have arrived. Ends when its stdin is closed.
import { createJiti } from "jiti";

const REPORT_EVERY_MS = 20;

const jiti = createJiti(import.meta.url);
const { startWeb } = await jiti.import("./web-server.ts");
const { createFleetLogWriter } = await jiti.import("./fleet-log.ts");
const { watchIdleTime } = await jiti.import("../rate-excess.ts");

const { log: file, web } = JSON.parse(process.argv[2] ?? "{}");
const log = createFleetLogWriter(file);
const running = await startWeb({ log, idleWatch: watchIdleTime() }, web);
console.log(JSON.stringify({ port: Number(running.web[0].site.split(":")[1]) }));

let reported = 0;
setInterval(() => {
  if (log.count() === reported) return;
  reported = log.count();
  console.log(JSON.stringify({ arrived: reported }));
}, REPORT_EVERY_MS).unref();

process.stdin.resume().once("end", async () => {
  await running.close();
  process.exit(0);
});
