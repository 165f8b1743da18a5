/** Parses server-sent events from a response body. */

type ServerEvent = { event: string; id: string | undefined; text: string };

export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const parts = (rest + decoder.decode(value, { stream: true })).split("\n\n");
      rest = parts.pop() ?? "";
      for (const part of parts) {
        const found = eventIn(part);
        if (found !== undefined) yield found;
      }
    }
  } finally {
    await reader.cancel().catch(() => {}); // the stream may be broken already
  }
}

/** Parses one event. Returns undefined for heartbeats and `retry` fields. */
function eventIn(part: string): ServerEvent | undefined {
  const fields = new Map<string, string>();
  for (const line of part.split("\n")) {
    const colon = line.indexOf(": ");
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 2));
  }
  const text = fields.get("data");
  return text === undefined ? undefined : { event: fields.get("event") ?? "message", id: fields.get("id"), text };
}
