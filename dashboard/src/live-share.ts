/**
 * One stream for all tabs of a browser. A browser opens no more than six connections to a server: a stream a tab would
 * leave the seventh tab without any. Of the visible tabs, the one that holds a lock reads the stream and tells the others;
 * when it is hidden or closed, the next takes over. Where a page has no locks (not localhost and not TLS), each has its
 * own stream while it is visible.
 */

export type Told = { name: string; value: unknown };

export type Share = {
  /** Resolves when `signal` aborts, or `read` is done. */
  run(read: (tell: (told: Told) => void, signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void>;
};

type ShareHooks = {
  /** From whichever tab reads the stream; this one included. */
  onTold(told: Told): void;
  /** All there is to know, for a tab that is new. */
  snapshot(): readonly Told[];
};

const ASKING = "ask for all";

export function createShare(name: string, { onTold, snapshot }: ShareHooks): Share {
  return {
    async run(read, signal) {
      if (navigator.locks === undefined) return read(onTold, signal);
      const channel = new BroadcastChannel(name);
      let isReading = false;
      const tell = (told: Told) => {
        onTold(told);
        channel.postMessage(told);
      };
      channel.onmessage = ({ data: told }: MessageEvent<Told>) => {
        if (told.name !== ASKING) onTold(told);
        else if (isReading) for (const part of snapshot()) channel.postMessage(part);
      };
      channel.postMessage({ name: ASKING, value: undefined });
      try {
        await navigator.locks.request(name, { signal }, async () => {
          isReading = true;
          await read(tell, signal);
        });
      } catch (error) {
        if (!signal.aborted) throw error; // it was waiting for the lock
      } finally {
        channel.close();
      }
    },
  };
}
