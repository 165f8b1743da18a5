import { afterEach, beforeEach } from "vitest";
import type { ControlStores } from "../../../src/store/store.ts";

export type Books = ControlStores & { close(): Promise<void> };

/** One empty store, and ways into it: each as another process would have it. */
export type ControlStoresSite = { open(): Promise<Books>; remove(): Promise<void> };

/** A store of its own for each test of the suite that calls this; the answer opens another way into it. */
export function withControlStores(prepare: () => Promise<ControlStoresSite>): () => Promise<Books> {
  let site: ControlStoresSite;
  const opened: Books[] = [];
  beforeEach(async () => {
    site = await prepare();
  });
  afterEach(async () => {
    for (const way of opened.splice(0)) await way.close();
    await site.remove();
  });
  return async () => {
    const way = await site.open();
    opened.push(way);
    return way;
  };
}
