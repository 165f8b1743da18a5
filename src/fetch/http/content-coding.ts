/**
 * Decodes Content-Encoding. The limit applies to the output, because 10 KB may decompress to 10 MB. Decoding stops at
 * the limit.
 */
import zlib from "node:zlib";

export type Coding = "gzip" | "deflate" | "br";

export type Decoded =
  | { kind: "decoded"; body: Buffer; isCut: boolean }
  | { kind: "too_big" }
  | { kind: "truncated" }
  | { kind: "corrupt"; detail: string };

type DecodeLimits = {
  /** Bytes after decoding. */
  bodyBytes: number;
  /** Whether a larger body is rejected or truncated. */
  overflow: "refuse" | "cut";
};

/** The value of Accept-Encoding. Node 20 has no zstd. */
export const ACCEPT_ENCODING = "gzip, deflate, br";

/** The maximum number of codings of one body. No regular server applies more. */
const MAX_STACKED = 3;

/** Up to this many compressed bytes, synchronous decoding takes less than half the CPU of a stream. */
const AT_ONCE_BYTES = 65_536;

const OUTPUT_CHUNK_BYTES = 65_536;

/** The known names of codings. `undefined` means that nothing is decoded; servers have several names for that. */
const CODINGS = new Map<string, Coding | undefined>([
  ["gzip", "gzip"],
  ["x-gzip", "gzip"],
  ["deflate", "deflate"],
  ["br", "br"],
  ["identity", undefined],
  ["none", undefined],
  ["binary", undefined],
  ["8bit", undefined],
  ["utf-8", undefined],
  ["utf8", undefined],
  ["", undefined],
]);

/** The codings of a body in the order they were applied; a string is the reason why it cannot be decoded. */
export function parseCodings(header: string | undefined): readonly Coding[] | string {
  if (header === undefined) return [];
  const codings: Coding[] = [];
  for (const token of header.toLowerCase().split(",")) {
    const name = token.trim();
    const coding = CODINGS.get(name);
    if (coding !== undefined) codings.push(coding);
    else if (!CODINGS.has(name)) return `content-encoding "${name}" was not offered and cannot be decoded`;
  }
  if (codings.length <= MAX_STACKED) return codings;
  return `content-encoding has ${codings.length} layers; at most ${MAX_STACKED} are decoded`;
}

/** Maximum compressed bytes to read: no compressor makes a body much larger than it was. */
export function maxCompressed(bodyBytes: number): number {
  return bodyBytes + Math.ceil(bodyBytes / 100) + 1024;
}

/** Decodes a whole body. Never rejects. */
export async function decodeContent(body: Buffer, codings: readonly Coding[], limits: DecodeLimits): Promise<Decoded> {
  let decoded: Decoded = { kind: "decoded", body, isCut: false };
  for (let layer = codings.length - 1; layer >= 0; layer--) {
    const coding = codings[layer];
    if (coding === undefined || decoded.kind !== "decoded") break;
    // Servers often send an empty body uncompressed, even if the header declares a coding.
    if (decoded.body.length === 0) break;
    const bodyBytes = layer === 0 ? limits.bodyBytes : maxCompressed(limits.bodyBytes);
    decoded = await decodeLayer(decoded.body, coding, { bodyBytes, overflow: limits.overflow });
  }
  return decoded;
}

async function decodeLayer(body: Buffer, coding: Coding, limits: DecodeLimits): Promise<Decoded> {
  if (body.length > AT_ONCE_BYTES) return decodeStreamed(body, coding, limits);
  const decoded = decodeAtOnce(body, coding, limits.bodyBytes);
  const isPartWanted = limits.overflow === "cut" && (decoded.kind === "too_big" || decoded.kind === "truncated");
  return isPartWanted ? decodeStreamed(body, coding, limits) : decoded;
}

function decodeAtOnce(body: Buffer, coding: Coding, bodyBytes: number): Decoded {
  const options = { maxOutputLength: Math.max(1, bodyBytes), chunkSize: OUTPUT_CHUNK_BYTES };
  try {
    return { kind: "decoded", body: DECODERS[coding].atOnce(body, options), isCut: false };
  } catch (error) {
    return failure(error);
  }
}

function decodeStreamed(body: Buffer, coding: Coding, { bodyBytes, overflow }: DecodeLimits): Promise<Decoded> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const stream = DECODERS[coding].stream(body, { chunkSize: OUTPUT_CHUNK_BYTES });
    const finish = (isCut: boolean): void =>
      resolve({ kind: "decoded", body: Buffer.concat(chunks, Math.min(bytes, bodyBytes)), isCut });
    stream.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes <= bodyBytes) return;
      stream.destroy();
      if (overflow === "cut") finish(true);
      else resolve({ kind: "too_big" });
    });
    stream.on("error", (error) => {
      const failed = failure(error);
      if (overflow === "cut" && failed.kind === "truncated") finish(true);
      else resolve(failed);
    });
    stream.on("end", () => finish(false));
    stream.end(body);
  });
}

type Decoder = {
  atOnce(body: Buffer, options: zlib.ZlibOptions): Buffer;
  stream(body: Buffer, options: zlib.ZlibOptions): zlib.Gunzip | zlib.Inflate | zlib.BrotliDecompress;
};

const DECODERS: Record<Coding, Decoder> = {
  gzip: {
    atOnce: (body, options) => zlib.gunzipSync(body, options),
    stream: (_, options) => zlib.createGunzip(options),
  },
  deflate: {
    atOnce: (body, options) =>
      hasZlibHeader(body) ? zlib.inflateSync(body, options) : zlib.inflateRawSync(body, options),
    stream: (body, options) => (hasZlibHeader(body) ? zlib.createInflate(options) : zlib.createInflateRaw(options)),
  },
  br: {
    atOnce: (body, { maxOutputLength, chunkSize }) =>
      zlib.brotliDecompressSync(body, { ...(maxOutputLength && { maxOutputLength }), ...(chunkSize && { chunkSize }) }),
    stream: (_, { chunkSize }) => zlib.createBrotliDecompress(chunkSize === undefined ? {} : { chunkSize }),
  },
};

/** "deflate" means a zlib stream, but many servers send a raw deflate stream, so clients accept both. */
function hasZlibHeader(body: Buffer): boolean {
  const [method = 0, flags = 0] = body;
  return (method & 0x0f) === 8 && ((method << 8) | flags) % 31 === 0;
}

function failure(error: unknown): Exclude<Decoded, { kind: "decoded" }> {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "ERR_BUFFER_TOO_LARGE") return { kind: "too_big" };
  if (code === "Z_BUF_ERROR") return { kind: "truncated" };
  return { kind: "corrupt", detail: message };
}
