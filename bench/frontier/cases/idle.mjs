/** Measures the cost of idle workers. */
import { setTimeout as sleep } from "node:timers/promises";

export async function measureIdle({ open, meter, workers, seconds }) {
  const contestant = await open();
  const measureOnce = () => meter.measure(1, () => sleep(seconds * 1_000));
  const alone = await measureOnce();
  await contestant.idle(workers);
  await sleep(2_000); // excludes connecting and the first requests
  const idle = await measureOnce();
  return {
    workers,
    redisCpuShareAlone: alone.redisCpuShare,
    redisCpuShare: idle.redisCpuShare,
    commandsPerS: idle.commandsPerS,
  };
}
