/** A listing that the client reads through by itself, some rows at a time, as a table asks for them. */
import { useRef } from "preact/hooks";
import { type Listing, useListing } from "./listing.ts";

/** Rows that are taken at once: what one request of the client brings. */
const CHUNK = 500;
const GO_ON = "more";

/** `deps` as of an effect: another of them begins anew. */
export function useListed<T>(
  list: (options: { signal: AbortSignal }) => AsyncGenerator<T, void>,
  deps: readonly unknown[],
): Listing<T> {
  const reading = useRef<AsyncGenerator<T, void> | undefined>(undefined);
  return useListing(async (cursor, signal) => {
    if (cursor === undefined || reading.current === undefined) reading.current = list({ signal });
    const { taken, isWhole } = await take(reading.current);
    return { rows: taken, next: isWhole ? null : GO_ON };
  }, deps);
}

async function take<T>(rows: AsyncGenerator<T, void>): Promise<{ taken: T[]; isWhole: boolean }> {
  const taken: T[] = [];
  while (taken.length < CHUNK) {
    const next = await rows.next();
    if (next.done === true) return { taken, isWhole: true };
    taken.push(next.value);
  }
  return { taken, isWhole: false };
}
