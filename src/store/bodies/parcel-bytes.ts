/**
 * Parcels as bytes, wherever they are kept: the page as a line of JSON before its body. Named by the task that fetched
 * the page, and not by what is in them: a task that runs again replaces its own, and nobody else's goes with one that is
 * removed.
 */
import { hash } from "node:crypto";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import type { Page } from "../../domain/page.ts";
import type { Parcel, ParcelName } from "./bodies.ts";

// They live for seconds: little is won by making them as small as bodies that stay.
const GZIP_LEVEL = 1;
const NEWLINE = 0x0a;

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** Where under its root a parcel is kept: `parcels/ab/<job>.<task>.gz`. */
export function parcelKey({ jobId, taskId }: ParcelName): string {
  const name = `${plain(jobId)}.${plain(taskId)}`;
  return `parcels/${hash("sha1", name).slice(0, 2)}/${name}.gz`;
}

/** As it is kept. */
export function packParcel({ page, body }: Parcel): Promise<Buffer> {
  return compress(Buffer.concat([Buffer.from(`${JSON.stringify(page)}\n`), body]), { level: GZIP_LEVEL });
}

export async function unpackParcel(packed: Buffer): Promise<Parcel | "damaged"> {
  // Only this page is lost, not the place: its task says so.
  const bytes = await decompress(packed).catch(() => undefined);
  const end = bytes?.indexOf(NEWLINE) ?? -1;
  if (bytes === undefined || end < 0) return "damaged";
  const page = pageFrom(bytes.subarray(0, end).toString());
  return page === undefined ? "damaged" : { page, body: bytes.subarray(end + 1) };
}

/** Whatever an id is, it names no other folder. */
function plain(id: string): string {
  return encodeURIComponent(id).replaceAll(".", "%2E");
}

function pageFrom(line: string): Page | undefined {
  try {
    // JSON has no undefined.
    const page = { contentType: undefined, ...JSON.parse(line) } as Page;
    return typeof page.url === "string" ? page : undefined;
  } catch {
    return undefined;
  }
}
