import type { PageMemory, Recall } from "../../store/page-memory.ts";
import type { Store } from "../../store/store.ts";

type Waiting = { recall: Recall; done: (memory: PageMemory | undefined) => void; failed: (cause: unknown) => void };

/**
 * Loads all page memories that are requested in one turn of the event loop with one store call. Tasks are leased in
 * batches, so several requests usually arrive together.
 */
export function createPageMemoryBatcher(
  store: Pick<Store, "recall">,
): (recall: Recall) => Promise<PageMemory | undefined> {
  let waiting: Waiting[] = [];

  async function load(): Promise<void> {
    const batch = waiting;
    waiting = [];
    try {
      const memories = await store.recall(batch.map(({ recall }) => recall));
      batch.forEach(({ done }, at) => {
        done(memories[at]);
      });
    } catch (cause) {
      for (const { failed } of batch) failed(cause);
    }
  }

  return (recall) =>
    new Promise((done, failed) => {
      if (waiting.length === 0) setImmediate(() => void load());
      waiting.push({ recall, done, failed });
    });
}
