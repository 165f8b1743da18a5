/** Response bodies that are produced while the client reads them. */
import { PassThrough, type Readable } from "node:stream";

/** `write` resolves when more may be written. It copies the bytes, so the caller may reuse its buffer. */
type Sink = { write(part: string | Uint8Array): Promise<void> };

/**
 * A stream of the parts that `produce` writes, at the client's speed. After the client has disconnected, the next write
 * fails; a producer that has nothing to write can check `isClosed`. If `produce` fails, the stream is destroyed with an
 * error, so that the client cannot mistake the response for a complete one.
 */
export function streamFrom(produce: (sink: Sink, isClosed: () => boolean) => Promise<void>): Readable {
  const pipe = new PassThrough();
  const write = (part: string | Uint8Array) =>
    new Promise<void>((resolve, reject) => {
      pipe.write(typeof part === "string" ? part : Buffer.from(part), (error) => (error ? reject(error) : resolve()));
    });
  produce({ write }, () => pipe.destroyed).then(
    () => pipe.end(),
    (cause: Error) => pipe.destroy(cause),
  );
  return pipe;
}

/** A stream of one part. */
export async function* once<T extends string | Uint8Array>(part: T): AsyncGenerator<T> {
  if (part.length > 0) yield part;
}
