// Runs one measurement in a separate process, so that the heap and compiled code of earlier measurements do not affect
// it.
//   node run-one.mjs '{"case":"drain","contestant":"trawl","variant":{"max":500},"size":{…},"url":"redis://…","from":"dist"}'
import { Redis } from "ioredis";
import { CASES } from "./cases.mjs";
import { CONTESTANTS } from "./contestants.mjs";
import { openMeter } from "./meter.mjs";
import { makeTasks, submitAll } from "./workload.mjs";

const WARM_UP = 2_000;

// Exits when the parent ends: then nothing receives the figures, and Redis ends with the parent.
process.once("disconnect", () => process.exit());

const { case: name, contestant, variant, size, url, from } = JSON.parse(process.argv[2]);
const { open: openContestant, hasDedup } = CONTESTANTS[contestant];
const meter = openMeter(url);
const opened = [];

await flush();
if (["enqueue", "drain", "operations"].includes(name)) await warmUp();
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

/** Runs some tasks before the measurement, so that V8 has compiled the code and Redis has loaded the scripts. */
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
