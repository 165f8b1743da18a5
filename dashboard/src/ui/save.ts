/**
 * Downloads. A plain link cannot send the API key, so the page fetches the response and saves it. Large responses are
 * streamed to a file if the browser has `showSaveFilePicker`; otherwise they are collected in memory first.
 */
type Writable = { write(chunk: Uint8Array): Promise<void>; close(): Promise<void>; abort(): Promise<void> };
type Picker = (options: { suggestedName: string }) => Promise<{ createWritable(): Promise<Writable> }>;
type SaveOptions = { name: string; isLarge: boolean; onBytes?: (bytes: number) => void };

/** Rejects if the stream breaks: an incomplete file is never saved. */
export async function saveStream(
  open: () => Promise<ReadableStream<Uint8Array>>,
  { name, isLarge, onBytes }: SaveOptions,
): Promise<void> {
  const picker = (window as { showSaveFilePicker?: Picker }).showSaveFilePicker;
  let received = 0;
  const count = (chunk: Uint8Array) => {
    received += chunk.length;
    onBytes?.(received);
  };
  if (isLarge && picker !== undefined) {
    const file = await picked(() => picker({ suggestedName: name }));
    if (file === undefined) return;
    const writable = await file.createWritable();
    try {
      await each(await open(), async (chunk) => {
        count(chunk);
        await writable.write(chunk);
      });
      await writable.close();
    } catch (error) {
      await writable.abort().catch(() => {}); // the first error is the one to report
      throw error;
    }
    return;
  }
  const parts: BlobPart[] = [];
  await each(await open(), async (chunk) => {
    count(chunk);
    parts.push(chunk as Uint8Array<ArrayBuffer>);
  });
  saveBlob(new Blob(parts), name);
}

export function saveBlob(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** Converts JSON Lines to one JSON array. */
export function toJsonArray(): TransformStream<Uint8Array, Uint8Array<ArrayBuffer>> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let rest = "";
  let before = "[";
  return new TransformStream({
    transform(chunk, controller) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      let text = "";
      for (const line of lines) {
        text += `${before}\n${line}`;
        before = ",";
      }
      if (text !== "") controller.enqueue(encoder.encode(text));
    },
    flush(controller) {
      controller.enqueue(encoder.encode(before === "[" ? "[]\n" : "\n]\n"));
    },
  });
}

async function each(stream: ReadableStream<Uint8Array>, take: (chunk: Uint8Array) => Promise<void>): Promise<void> {
  const reader = stream.getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    await take(value);
  }
}

/** Undefined if the user cancelled the file dialog. */
async function picked<T>(pick: () => Promise<T>): Promise<T | undefined> {
  try {
    return await pick();
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") return undefined;
    throw error;
  }
}
