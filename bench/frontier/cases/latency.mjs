/** From the moment a URL is submitted to the moment a worker that had nothing to do has it. */
import { setTimeout as sleep } from "node:timers/promises";
import { makeTask } from "../workload.mjs";
import { percentiles } from "./first-byte.mjs";

/** Time for the worker to find that there is nothing more, and to go back to waiting. */
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
