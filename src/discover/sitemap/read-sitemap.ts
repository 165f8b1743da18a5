/**
 * Reads the body of a sitemap: decompresses, decodes and parses it in small parts, and passes the entries on in batches.
 * Memory use depends on the size of the body as received and of one batch, not on the size of the decompressed file.
 */
import { setImmediate } from "node:timers/promises";
import { TextDecoder } from "node:util";
import { createGunzip } from "node:zlib";
import { createLinkResolver } from "../../domain/canonical-url.ts";
import { parseDateRange } from "../../domain/date-range.ts";
import { createSitemapParser, type RawEntry, type SitemapKind } from "./sitemap-parser.ts";

/** `url` is canonical. `lastmod` is as written. */
export type SitemapEntry = { url: string; lastmod?: string };

/** The limits of the sitemap protocol: the size of one file after decompression, and its number of entries. */
export const MAX_SITEMAP_BYTES = 50 * 1024 * 1024;
export const MAX_SITEMAP_ENTRIES = 50_000;

/** Entries per call of `onEntries`: two batches of the Redis broker. */
const BATCH = 2_500;
/** Bytes that are parsed before other work of the process may run. */
const CHUNK_BYTES = 65_536;

type SitemapInput = {
  /** As received, after the Content-Encoding is decoded. A gzip file is recognised by its first bytes. */
  body: Buffer;
  /** The URL of the file. Relative entries are resolved against it. */
  url: string;
  /** Receives the entries in the order of the file, one call at a time. The next batch is parsed meanwhile. */
  onEntries(entries: readonly SitemapEntry[], kind: SitemapKind): Promise<void>;
};

/**
 * `entries`: valid entries. `invalid`: entries without a valid http(s) URL. With a problem, the entries before it have
 * already been passed on.
 */
export type SitemapEnd = { entries: number; invalid: number } & (
  | { kind: SitemapKind }
  | { kind: "bad"; because: "bad_sitemap" | "too_big"; detail: string }
);

export async function readSitemap({ body, url, onEntries }: SitemapInput): Promise<SitemapEnd> {
  const resolve = createLinkResolver(url);
  const counts = { entries: 0, invalid: 0 };
  let kind: SitemapKind = "pages";
  let batch: SitemapEntry[] = [];
  let passing: Promise<void> = Promise.resolve();

  function onEntry({ url: raw, lastmod }: RawEntry, kindOfEntry: SitemapKind): void {
    kind = kindOfEntry;
    const resolved = counts.entries < MAX_SITEMAP_ENTRIES ? resolve(raw) : undefined;
    if (resolved === undefined) counts.invalid += 1;
    else {
      counts.entries += 1;
      batch.push(lastmod === undefined ? { url: resolved } : { url: resolved, lastmod });
    }
  }

  async function passOn(least: number): Promise<void> {
    while (batch.length > 0 && batch.length >= least) {
      const entries = batch.slice(0, BATCH);
      batch = batch.slice(BATCH);
      await passing;
      passing = onEntries(entries, kind);
      passing.catch(() => {}); // a failure is thrown where it is awaited
    }
  }

  const parser = createSitemapParser(onEntry);
  const ending = await parseAll(body, parser, () => passOn(BATCH));
  const end = ending ?? parser.end();
  await passOn(1);
  await passing;
  if ("because" in end) return { ...counts, kind: "bad", ...end };
  if ("problem" in end) return { ...counts, kind: "bad", because: "bad_sitemap", detail: end.problem };
  return { ...counts, kind: end.kind };
}

/** Tests whether an entry is not older than `since`. Entries without a readable date are kept. */
export function createRecencyTest(since: number | undefined): (entry: SitemapEntry) => boolean {
  if (since === undefined) return () => true;
  return ({ lastmod }) => lastmod === undefined || (parseDateRange(lastmod)?.until ?? since) >= since;
}

/**
 * A reader that reads one sitemap at a time. The sitemaps of a site are often leased together; read at once, 4 of 5 MB
 * grew a worker by 110 MB instead of 60, and took no less time.
 */
export function createSitemapReader(): typeof readSitemap {
  let last: Promise<unknown> = Promise.resolve();
  return (input) => {
    const reading = last.then(() => readSitemap(input));
    last = reading.catch(() => {}); // the caller gets the error
    return reading;
  };
}

type Ending = { because: "bad_sitemap" | "too_big"; detail: string };

/** Writes the text of the body to the parser. Returns why it stopped before the end. */
async function parseAll(
  body: Buffer,
  parser: Pick<ReturnType<typeof createSitemapParser>, "write" | "problem">,
  afterChunk: () => Promise<void>,
): Promise<Ending | undefined> {
  let bytes = 0;
  let decoder: TextDecoder | undefined;
  try {
    for await (const chunk of isGzip(body) ? unzipped(body) : slices(body)) {
      bytes += chunk.length;
      if (bytes > MAX_SITEMAP_BYTES) {
        return { because: "too_big", detail: `the sitemap is over ${MAX_SITEMAP_BYTES} bytes after decompression` };
      }
      decoder ??= new TextDecoder(charsetOf(chunk));
      parser.write(decoder.decode(chunk, { stream: true }));
      const problem = parser.problem();
      if (problem !== undefined) return { because: "bad_sitemap", detail: problem };
      await afterChunk();
      await setImmediate(); // heartbeats and other tasks of the process
    }
  } catch (error) {
    if (!isZlibError(error)) throw error;
    return { because: "bad_sitemap", detail: `the gzip data is damaged or incomplete (${error.code})` };
  }
  if (decoder !== undefined) parser.write(decoder.decode());
  return undefined;
}

function isGzip(body: Buffer): boolean {
  return body[0] === 0x1f && body[1] === 0x8b;
}

async function* unzipped(body: Buffer): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  gunzip.end(body);
  yield* gunzip as AsyncIterable<Buffer>;
}

function* slices(body: Buffer): Generator<Buffer> {
  for (let from = 0; from < body.length; from += CHUNK_BYTES) yield body.subarray(from, from + CHUNK_BYTES);
}

/** The charset of a file: its byte order mark, the XML declaration, or UTF-8. The decoder removes the mark. */
function charsetOf(start: Buffer): string {
  if (start[0] === 0xff && start[1] === 0xfe) return "utf-16le";
  if (start[0] === 0xfe && start[1] === 0xff) return "utf-16be";
  const declared = /^\s*<\?xml[^>]{0,100}encoding\s*=\s*["']([\w.:-]{1,40})["']/i.exec(
    start.toString("latin1", 0, 200),
  );
  const label = declared?.[1] ?? "utf-8";
  try {
    const { encoding } = new TextDecoder(label);
    // The declaration was read as ASCII, so it is wrong if it names UTF-16.
    return encoding.startsWith("utf-16") ? "utf-8" : encoding;
  } catch {
    return "utf-8"; // an unknown name
  }
}

function isZlibError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && String((error as NodeJS.ErrnoException).code).startsWith("Z_");
}
