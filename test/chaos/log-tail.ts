/** Counts the requests in an access log that another process is writing, without reading it from the start each time. */
import { closeSync, openSync, readSync } from "node:fs";

export type LogTail = {
  /** Requests that have arrived so far. */
  count(): number;
  close(): void;
};

const CHUNK_BYTES = 65_536;

export function openLogTail(file: string): LogTail {
  const descriptor = openSync(file, "r");
  const chunk = Buffer.alloc(CHUNK_BYTES);
  let rest = "";
  let arrived = 0;
  return {
    count() {
      for (let read = CHUNK_BYTES; read === CHUNK_BYTES; ) {
        read = readSync(descriptor, chunk, 0, CHUNK_BYTES, null);
        const lines = (rest + chunk.toString("latin1", 0, read)).split("\n");
        rest = lines.pop() ?? "";
        arrived += lines.filter((line) => line.startsWith('{"event":"arrived"')).length;
      }
      return arrived;
    },
    close: () => closeSync(descriptor),
  };
}
