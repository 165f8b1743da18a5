/**
 * Parcels as files: `parcels/ab/<job>.<task>.gz`, the page as a line of JSON before its body. Named by the task that
 * fetched the page, and not by what is in them: a task that runs again replaces its own, and nobody else's goes with one
 * that is removed. A crash after a removal was due leaves a file that nothing reads.
 */
import { hash } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Page } from "../../domain/page.ts";
import type { Parcel, ParcelName, Parcels } from "./bodies.ts";
import { codeOf, fail, keepFile, readCompressed } from "./files.ts";

// They live for seconds: little is won by making them as small as bodies that stay.
const GZIP_LEVEL = 1;
const NEWLINE = 0x0a;

const compress = promisify(gzip);

/** Keeps parcels under `root`, the folder of bodies, made when first needed. */
export function openFileParcels(root: string): Parcels {
  return {
    async put(name, { page, body }) {
      const path = pathOf(root, name);
      const bytes = Buffer.concat([Buffer.from(`${JSON.stringify(page)}\n`), body]);
      try {
        await keepFile(root, path, await compress(bytes, { level: GZIP_LEVEL }));
      } catch (cause) {
        fail("parcels.put", path, cause);
      }
    },
    async get(name) {
      const path = pathOf(root, name);
      const bytes = await readCompressed(path).catch((cause: unknown) => {
        // Only this page is lost, not the place: its task says so.
        if (codeOf(cause).startsWith("Z_")) return "damaged" as const;
        return fail("parcels.get", path, cause);
      });
      if (bytes === undefined) return "missing";
      return bytes === "damaged" ? bytes : parcelFrom(bytes);
    },
    async remove(name) {
      const path = pathOf(root, name);
      await rm(path, { force: true }).catch((cause: unknown) => fail("parcels.remove", path, cause));
    },
  };
}

function pathOf(root: string, { jobId, taskId }: ParcelName): string {
  const name = `${plain(jobId)}.${plain(taskId)}`;
  return join(root, "parcels", hash("sha1", name).slice(0, 2), `${name}.gz`);
}

/** Whatever an id is, it names no other folder. */
function plain(id: string): string {
  return encodeURIComponent(id).replaceAll(".", "%2E");
}

function parcelFrom(bytes: Buffer): Parcel | "damaged" {
  const end = bytes.indexOf(NEWLINE);
  const page = end < 0 ? undefined : pageFrom(bytes.subarray(0, end).toString());
  return page === undefined ? "damaged" : { page, body: bytes.subarray(end + 1) };
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
