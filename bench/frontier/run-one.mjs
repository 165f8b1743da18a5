// One measurement in a process of its own, so that nobody pays for the garbage, or gains by the warmth, of another.
//   node run-one.mjs '{"case":"drain","contestant":"trawl","variant":{"max":500},"size":{…},"url":"redis://…","from":"dist"}'
import { Redis } from "ioredis";
import { CASES } from "./cases.mjs";
import { CONTESTANTS } from "./contestants.mjs";
import { openMeter } from "./meter.mjs";
import { makeTasks, submitAll } from "./workload.mjs";

const WARM_UP = 2_000;

// Also when the one who asked is gone: nobody is left to hear the figures, and Redis has gone with it.
process.once("disconnect", () => process.exit());

const { case: name, contestant, variant, size, url, from } = JSON.parse(process.argv[2]);
const { open: openContestant, hasDedup } = CONTESTANTS[contestant];
const meter = openMeter(url);
const opened = [];

await flush();
if (["enqueue", "drain"].includes(name)) await warmUp();
const figures = await CASES[name].run({ open, meter, hasDedup, url, from, ...size });
process.send(figures);
await Promise.all(opened.map((one) => one.close()));
meter.close();
process.disconnect();

async function open(options = {}) {
  const one = await openContestant({ url, variant, from, ...options });
  opened.push(one);
  return one;
}

/** The compiler on our side and the scripts on Redis' side are ready when the watch starts. */
async function warmUp() {
  const one = await openContestant({ url, variant, from });
  await submitAll(makeTasks({ count: WARM_UP, sites: 100 }), one.submit);
  await one.drain(WARM_UP);
  await one.close();
  await flush();
}

async function flush() {
  const redis = new Redis(url);
  await redis.flushall();
  redis.disconnect();
}
