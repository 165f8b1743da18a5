/**
 * Shares one event stream between all tabs of a browser. A browser opens at most six connections to a server, so with
 * one stream per tab the seventh tab could load nothing. The visible tab that holds a Web Lock reads the stream and
 * broadcasts its messages to the other tabs. When that tab is hidden or closed, the next one gets the lock. Web Locks
 * need localhost or TLS; without them, each visible tab reads its own stream.
 */

export type LiveMessage = { name: string; value: unknown };

type SharedStream = {
  /** Resolves when `signal` aborts or `read` returns. */
  run(
    read: (publish: (message: LiveMessage) => void, signal: AbortSignal) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void>;
};

type SharedStreamHooks = {
  /** Called for every message, whether this tab or another one reads the stream. */
  onMessage(message: LiveMessage): void;
  /** The complete current state, for a tab that was just opened. */
  snapshot(): readonly LiveMessage[];
};

/** Not an event of the server: a new tab sends it to request a snapshot from the tab that reads the stream. */
const SNAPSHOT_REQUEST = "snapshot request";

export function createSharedStream(name: string, { onMessage, snapshot }: SharedStreamHooks): SharedStream {
  return {
    async run(read, signal) {
      if (navigator.locks === undefined) return read(onMessage, signal);
      const channel = new BroadcastChannel(name);
      let isReader = false;
      const publish = (message: LiveMessage) => {
        onMessage(message);
        channel.postMessage(message);
      };
      channel.onmessage = ({ data: message }: MessageEvent<LiveMessage>) => {
        if (message.name !== SNAPSHOT_REQUEST) onMessage(message);
        else if (isReader) for (const part of snapshot()) channel.postMessage(part);
      };
      channel.postMessage({ name: SNAPSHOT_REQUEST, value: undefined });
      try {
        await navigator.locks.request(name, { signal }, async () => {
          isReader = true;
          await read(publish, signal);
        });
      } catch (error) {
        if (!signal.aborted) throw error; // an abort ends the wait for the lock with an error
      } finally {
        channel.close();
      }
    },
  };
}
