/**
 * Limits the number of pages that a browser renders at once. Further tasks wait in FIFO order. A task may take all places, to
 * run alone. A crash loses nothing: all waiting tasks are in this process.
 */
export type TabGate = {
  /** Resolves when a place is free, with a function that returns it; a second call has no effect. Rejects when aborted. */
  enter(how: "beside-others" | "alone", signal: AbortSignal): Promise<() => void>;
};

type Waiting = { room: number; go(): void };

export function createTabGate({ tabs }: { tabs: number }): TabGate {
  const waiting: Waiting[] = [];
  let free = tabs;

  function letIn(): void {
    for (let first = waiting[0]; first !== undefined && first.room <= free; first = waiting[0]) {
      waiting.shift();
      free -= first.room;
      first.go();
    }
  }

  function leave(room: number): () => void {
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      free += room;
      letIn();
    };
  }

  return {
    enter: (how, signal) =>
      new Promise((resolve, reject) => {
        const room = how === "alone" ? tabs : 1;
        const place: Waiting = {
          room,
          go() {
            signal.removeEventListener("abort", giveUp);
            resolve(leave(room));
          },
        };
        function giveUp(): void {
          const at = waiting.indexOf(place);
          if (at >= 0) waiting.splice(at, 1);
          reject(signal.reason);
          letIn(); // who stood behind one that wanted all the room
        }
        if (signal.aborted) return reject(signal.reason);
        signal.addEventListener("abort", giveUp, { once: true });
        waiting.push(place);
        letIn();
      }),
  };
}
