/** Names and compression of bodies, the same in every backend, so that a folder can be copied to a bucket. */
import { hash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

// Level 4 makes HTML 4.6 times smaller and takes 1.4 ms per 100 KB. Level 6 takes 25 % longer and saves 4 % more.
const GZIP_LEVEL = 4;

const REF = /^sha256:([0-9a-f]{64})$/;

const compress = promisify(gzip);

/** The reference of a body, and its path under the root. Both depend only on the content of the body. */
export function nameOf(body: Buffer): { ref: string; key: string } {
  const hex = hash("sha256", body, "hex");
  return { ref: `sha256:${hex}`, key: keyOf(hex) };
}

/** The path of the body with this reference; undefined if the reference is invalid. */
export function findKey(ref: string): string | undefined {
  // The pattern also prevents path traversal by a forged reference.
  const hex = REF.exec(ref)?.[1];
  return hex === undefined ? undefined : keyOf(hex);
}

/** The folder of the request bodies of a job, under the root. */
export function requestFolder(jobId: string): string {
  return `requests/${plain(jobId)}`;
}

/** The path of a request body; undefined if the reference is invalid. */
export function findRequestKey(jobId: string, ref: string): string | undefined {
  const hex = REF.exec(ref)?.[1];
  return hex === undefined ? undefined : `${requestFolder(jobId)}/${hex}.gz`;
}

/** Compresses a body for storage. */
export function compressBody(body: Buffer): Promise<Buffer> {
  return compress(body, { level: GZIP_LEVEL });
}

/** Runs `keep` once for all concurrent calls with the same key, so equal bodies are written once. */
export function onceAtATime(keep: (key: string, body: Buffer) => Promise<void>): typeof keep {
  const running = new Map<string, Promise<void>>();
  return (key, body) => {
    const current = running.get(key);
    if (current !== undefined) return current;
    const kept = keep(key, body).finally(() => running.delete(key));
    running.set(key, kept);
    return kept;
  };
}

function keyOf(hex: string): string {
  return `${hex.slice(0, 2)}/${hex.slice(2, 4)}/${hex}.gz`;
}

/** Encodes an id so that it cannot refer to another folder. */
export function plain(id: string): string {
  return encodeURIComponent(id).replaceAll(".", "%2E");
}
