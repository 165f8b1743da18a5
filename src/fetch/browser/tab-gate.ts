/**
 * How many pages a browser shows at once. Tasks beyond that wait here, first come, first served; one may ask for all the
 * room there is, to be alone. Nothing is lost by a crash: who waits is in this process.
 */
export type TabGate = {
  /** Resolves when there is room, with the way to give it back (twice is harmless). Rejects when aborted. */
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
