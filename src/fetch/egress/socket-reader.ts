/** Reads the replies of a proxy from a socket, up to a given byte and no further: the bytes after it belong to the site. */
import type { Socket } from "node:net";

export type SocketReader = {
  /** Exactly this many bytes. */
  bytes(count: number): Promise<Buffer>;
  /** Everything up to and including `end`, at most `maxBytes`. */
  until(end: string, maxBytes: number): Promise<Buffer>;
};

/** Rejects if the socket fails or closes first. Use one reader per socket, and only one call at a time. */
export function createSocketReader(socket: Socket): SocketReader {
  function more(): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (error?: Error): void => {
        socket.off("readable", onReadable).off("error", onError).off("close", onClose).off("end", onClose);
        if (error === undefined) resolve();
        else reject(error);
      };
      const onReadable = (): void => settle();
      const onError = (error: Error): void => settle(error);
      const onClose = (): void => settle(new Error("the proxy closed the connection"));
      if (socket.destroyed || socket.readableEnded) return onClose();
      socket.on("readable", onReadable).on("error", onError).on("close", onClose).on("end", onClose);
    });
  }

  async function take(find: (buffered: Buffer) => number | undefined): Promise<Buffer> {
    let buffered: Buffer = Buffer.alloc(0);
    for (;;) {
      const chunk = socket.read() as Buffer | null;
      if (chunk === null) {
        await more();
        continue;
      }
      buffered = Buffer.concat([buffered, chunk]);
      const count = find(buffered);
      if (count === undefined) continue;
      if (count < buffered.length) socket.unshift(buffered.subarray(count));
      return buffered.subarray(0, count);
    }
  }

  return {
    bytes: (count) => take(({ length }) => (length < count ? undefined : count)),
    until: (end, maxBytes) =>
      take((buffered) => {
        const at = buffered.indexOf(end);
        if (at >= 0) return at + end.length;
        if (buffered.length > maxBytes) throw new Error(`the proxy answered with more than ${maxBytes} bytes`);
        return undefined;
      }),
  };
}
