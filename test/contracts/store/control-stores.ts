import { afterEach, beforeEach } from "vitest";
import type { ControlStores } from "../../../src/store/store.ts";

export type OpenControlStores = ControlStores & { close(): Promise<void> };

/** A store that is empty when a test starts. Each `open` returns a separate handle, as in another process. */
export type ControlStoresFixture = { open(): Promise<OpenControlStores>; remove(): Promise<void> };

/** Creates a store for each test of the calling suite. The returned function opens one more handle to it. */
export function withControlStores(prepare: () => Promise<ControlStoresFixture>): () => Promise<OpenControlStores> {
  let fixture: ControlStoresFixture;
  const opened: OpenControlStores[] = [];
  beforeEach(async () => {
    fixture = await prepare();
  });
  afterEach(async () => {
    for (const handle of opened.splice(0)) await handle.close();
    await fixture.remove();
  });
  return async () => {
    const handle = await fixture.open();
    opened.push(handle);
    return handle;
  };
}
