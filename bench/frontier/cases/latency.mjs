/** Measures the time from the submission of a URL until an idle worker has leased it. */
import { setTimeout as sleep } from "node:timers/promises";
import { makeTask } from "../workload.mjs";
import { percentiles } from "./first-byte.mjs";

/** The time in which the worker becomes idle again. */
const PAUSE_MS = 5;

export async function measureLatency({ open, samples }) {
  const contestant = await open();
  let arrived = () => undefined;
  await contestant.serve((url) => arrived(url));
  const latencies = [];
  for (let nth = 0; nth < samples; nth++) {
    await sleep(PAUSE_MS);
    const task = makeTask(nth, samples);
    const arrival = new Promise((resolve) => {
      arrived = (url) => {
        if (url === task.url) resolve(performance.now());
      };
    });
    const submittedAt = performance.now();
    await contestant.submit([task]);
    latencies.push((await arrival) - submittedAt);
  }
  return percentiles(latencies);
}
