import { afterEach, beforeEach } from "vitest";
import type { StoreBooks } from "../../../src/store/store.ts";

export type Books = StoreBooks & { close(): Promise<void> };

/** One empty store, and ways into it: each as another process would have it. */
export type BooksSite = { open(): Promise<Books>; remove(): Promise<void> };

/** A store of its own for each test of the suite that calls this; the answer opens another way into it. */
export function eachWithBooks(prepare: () => Promise<BooksSite>): () => Promise<Books> {
  let site: BooksSite;
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
