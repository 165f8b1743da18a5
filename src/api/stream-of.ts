/** Text or bytes that are made as somebody takes them. */
import { PassThrough, type Readable } from "node:stream";

/** Resolves when it may be given more; the bytes are copied, and may be written over then. */
export type Sink = { write(part: string | Uint8Array): Promise<void> };

/**
 * What `produce` writes, at the pace of whoever reads it; it is held back, and nothing of it kept. Where the reader goes, its
 * next write fails, and `isLeft` says so to whoever has nothing to write; where it fails itself, the reader's stream breaks
 * off, and is not mistaken for a whole one.
 */
export function streamOf(produce: (sink: Sink, isLeft: () => boolean) => Promise<void>): Readable {
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

/** What is there already, as a stream. */
export async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes;
}
