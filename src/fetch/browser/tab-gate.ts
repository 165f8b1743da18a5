/**
 * Limits the number of pages that a browser renders at once. Further tasks wait in FIFO order. A task may take all
 * tabs, to run alone. A crash loses nothing: all waiting tasks are in this process.
 */
type TabGate = {
  /**
   * Resolves when a tab is free, with a function that releases it; a second call has no effect. Rejects when aborted.
   */
  enter(how: "shared" | "alone", signal: AbortSignal): Promise<() => void>;
};

type Waiting = { tabs: number; admit(): void };

export function createTabGate({ tabs }: { tabs: number }): TabGate {
  const waiting: Waiting[] = [];
  let free = tabs;

  function admitNext(): void {
    for (let first = waiting[0]; first !== undefined && first.tabs <= free; first = waiting[0]) {
      waiting.shift();
      free -= first.tabs;
      first.admit();
    }
  }

  function leave(taken: number): () => void {
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      free += taken;
      admitNext();
    };
  }

  return {
    enter: (how, signal) =>
      new Promise((resolve, reject) => {
        const wanted = how === "alone" ? tabs : 1;
        const place: Waiting = {
          tabs: wanted,
          admit() {
            signal.removeEventListener("abort", giveUp);
            resolve(leave(wanted));
          },
        };
        function giveUp(): void {
          const at = waiting.indexOf(place);
          if (at >= 0) waiting.splice(at, 1);
          reject(signal.reason);
          admitNext(); // the next task may need fewer tabs
        }
        if (signal.aborted) return reject(signal.reason);
        signal.addEventListener("abort", giveUp, { once: true });
        waiting.push(place);
        admitNext();
      }),
  };
}
