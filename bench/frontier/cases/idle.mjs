/** What workers cost while there is nothing to do. */
import { setTimeout as sleep } from "node:timers/promises";

export async function measureIdle({ open, meter, workers, seconds }) {
  const contestant = await open();
  const watch = () => meter.measure(1, () => sleep(seconds * 1_000));
  const alone = await watch();
  await contestant.idle(workers);
  await sleep(2_000); // connecting and the first questions are not idling
  const idle = await watch();
  return {
    workers,
    redisCpuShareAlone: alone.redisCpuShare,
    redisCpuShare: idle.redisCpuShare,
    commandsPerS: idle.commandsPerS,
  };
}
