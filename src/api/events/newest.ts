import type { Following } from "./pulse.ts";
import { HEARTBEAT_MS } from "./sse.ts";

/** What follows of a following: the newest each time, or that nothing came for a while. */
export async function* newest<T>(following: Following<T>, signal: AbortSignal): AsyncGenerator<T | "silence"> {
  let nth = 0;
  let silentSince = performance.now();
  while (!signal.aborted) {
    const seen = await following.next(nth, HEARTBEAT_MS, signal);
    if (signal.aborted) return;
    nth = seen?.nth ?? nth;
    if (seen !== undefined) yield seen.value;
    // What was seen may have been nothing new: then nothing was sent.
    if (performance.now() - silentSince < HEARTBEAT_MS) continue;
    silentSince = performance.now();
    yield "silence";
  }
}
