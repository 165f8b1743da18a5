/** Response bodies that are produced while the client reads them. */
import { PassThrough, type Readable } from "node:stream";

/** `write` resolves when more may be written. It copies the bytes, so the caller may reuse its buffer. */
type Sink = { write(part: string | Uint8Array): Promise<void> };

/**
 * A stream of what `produce` writes, at the client's speed. When the client disconnects, the next write fails, and `isLeft`
 * returns true for a producer with nothing to write. When `produce` fails, the stream breaks off with an error, so the
 * client cannot mistake it for a complete one.
 */
export function streamFrom(produce: (sink: Sink, isLeft: () => boolean) => Promise<void>): Readable {
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
