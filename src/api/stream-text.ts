/** Text that is made as somebody takes it. */
import { PassThrough } from "node:stream";
import type { TextSink } from "../store/export/record-writer.ts";

/**
 * What `produce` writes, at the pace of whoever reads it; it is held back, and not its text kept. Where the reader goes, its
 * next write fails; where it fails itself, the reader's stream breaks off, and is not mistaken for a whole one.
 */
export function streamText(produce: (sink: TextSink) => Promise<void>): AsyncIterable<Uint8Array> {
  const pipe = new PassThrough();
  const write = (text: string) =>
    new Promise<void>((resolve, reject) => {
      pipe.write(text, (error) => (error ? reject(error) : resolve()));
    });
  produce({ write }).then(
    () => pipe.end(),
    (cause: Error) => pipe.destroy(cause),
  );
  return pipe;
}
