/**
 * The byte format of spooled pages, the same in every backend: the page as one line of JSON, then its body, all
 * gzipped. A page is named by the task that fetched it, not by its content: a task that runs again replaces its own
 * page, and removing one page never removes the page of another task.
 */
import { hash } from "node:crypto";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import type { Page } from "../../domain/page.ts";
import type { SpooledPage, SpooledPageName } from "./bodies.ts";
import { plain } from "./body-name.ts";

// Spooled pages exist for seconds, so stronger compression is not worth its CPU time.
const GZIP_LEVEL = 1;
const NEWLINE = 0x0a;

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** The path of a spooled page under its root: `spool/ab/<job>.<task>.gz`. */
export function spoolKey({ jobId, taskId }: SpooledPageName): string {
  const name = `${plain(jobId)}.${plain(taskId)}`;
  return `spool/${hash("sha1", name).slice(0, 2)}/${name}.gz`;
}

/** The stored bytes of a page. */
export function packPage({ page, body }: SpooledPage): Promise<Buffer> {
  return compress(Buffer.concat([Buffer.from(`${JSON.stringify(page)}\n`), body]), { level: GZIP_LEVEL });
}

export async function unpackPage(packed: Buffer): Promise<SpooledPage | "damaged"> {
  // An error would count as a failure of the whole spool, but only this page is damaged.
  const bytes = await decompress(packed).catch(() => undefined);
  const end = bytes?.indexOf(NEWLINE) ?? -1;
  if (bytes === undefined || end < 0) return "damaged";
  const page = pageFrom(bytes.subarray(0, end).toString());
  return page === undefined ? "damaged" : { page, body: bytes.subarray(end + 1) };
}

function pageFrom(line: string): Page | undefined {
  try {
    // JSON omits undefined fields.
    const page = { contentType: undefined, ...JSON.parse(line) } as Page;
    return typeof page.url === "string" ? page : undefined;
  } catch {
    return undefined;
  }
}
