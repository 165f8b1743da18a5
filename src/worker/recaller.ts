import type { PageMemory, Recall } from "../store/page-memory.ts";
import type { Store } from "../store/store.ts";

type Waiting = { asked: Recall; done: (memory: PageMemory | undefined) => void; failed: (cause: unknown) => void };

/** Asks the store once for all pages that are asked about in one turn of the event loop: tasks are leased in batches. */
export function createRecaller(store: Pick<Store, "recall">): (asked: Recall) => Promise<PageMemory | undefined> {
  let waiting: Waiting[] = [];

  async function ask(): Promise<void> {
    const batch = waiting;
    waiting = [];
    try {
      const memories = await store.recall(batch.map(({ asked }) => asked));
      batch.forEach(({ done }, at) => {
        done(memories[at]);
      });
    } catch (cause) {
      for (const { failed } of batch) failed(cause);
    }
  }

  return (asked) =>
    new Promise((done, failed) => {
      if (waiting.length === 0) setImmediate(() => void ask());
      waiting.push({ asked, done, failed });
    });
}
