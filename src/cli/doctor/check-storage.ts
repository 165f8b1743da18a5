/** Checks that the store and the body storage can be opened, read and written. */
import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { dirname } from "node:path";
import { openStore } from "../../compose/app.ts";
import { bodiesPlace, openBodies } from "../../compose/bodies.ts";
import { maskedUrl } from "../../config/connection-url.ts";
import type { Config } from "../../config/schema.ts";
import { ERRORS, isTrawlError } from "../../errors.ts";
import type { Finding } from "../../frontier/frontier-admin.ts";
import { systemClock } from "../../runtime/clock.ts";
import { createLog } from "../../runtime/log.ts";
import { openDatabase } from "../../runtime/sqlite.ts";
import { withFileErrors } from "../../runtime/sqlite-errors.ts";
import { isPostgresUrl } from "../../store/postgres/connection-url.ts";
import { checkPostgres } from "./check-postgres.ts";

/** The finding for a TrawlError. Other errors are bugs and are rethrown. */
export function findingOf(check: string, error: unknown): Finding {
  if (!isTrawlError(error)) throw error;
  return { check, verdict: "problem", message: error.message, fix: ERRORS[error.code].fix };
}

/** An unavailable store is reported after this time, because the user is waiting. */
const TIMEOUT_MS = 5_000;

export async function checkStore(config: Config): Promise<Finding[]> {
  // The finding reports connection errors; log lines would repeat them.
  const deps = { clock: systemClock(), log: createLog("silent", () => {}) };
  const storeRetryForMs = Math.min(config.storeRetryForMs, TIMEOUT_MS);
  try {
    const store = await openStore({ ...config, storeRetryForMs }, deps); // throws for other files and newer schemas
    await store.close();
    if (isPostgresUrl(config.store)) return await checkPostgres(config.store, deps, { retryForMs: storeRetryForMs });
    tryWriting(config.store.replace(/^sqlite:/, ""));
    return [{ check: "store", verdict: "ok", message: `${maskedUrl(config.store)} can be read and written` }];
  } catch (error) {
    return [findingOf("store", error)];
  }
}

const BUSY_MS = 1_000;

function tryWriting(path: string): void {
  withFileErrors({ what: "store", path, unreachable: "STORE_UNREACHABLE" }, "doctor.store", () => {
    const db = openDatabase(path, { durability: "full", busyMs: BUSY_MS, pageBytes: 16384 });
    try {
      db.write(() => {});
    } finally {
      db.close();
    }
  });
}

export async function checkBodies(config: Config): Promise<Finding> {
  const check = "bodies";
  try {
    const place = bodiesPlace(config);
    if (place.kind === "none") return { check, verdict: "ok", message: "TRAWL_BODIES is none: bodies are not stored" };
    if (place.kind === "bucket") return await checkBucket(config);
    const problem = await writingProblem(place.path);
    if (problem === undefined) return { check, verdict: "ok", message: `${place.path} can be written` };
    const fix = "make the folder writable for this user, or set another folder in TRAWL_BODIES";
    return { check, verdict: "problem", message: `${place.path}: ${problem}`, fix };
  } catch (error) {
    return findingOf(check, error);
  }
}

/**
 * Checks a bucket: writes, reads and removes an object as workers do, because permissions of an access key can only be
 * tested by using them.
 */
async function checkBucket(config: Config): Promise<Finding> {
  const { spool } = await openBodies(config, { clock: systemClock() }, { tries: 1 });
  const name = { jobId: "doctor", taskId: randomUUID() };
  const page = { url: "about:blank", status: 200, headers: {}, contentType: undefined, bodyBytes: 0 };
  await spool.put(name, { page: { ...page, tookMs: 0, fetchedAt: 0 }, body: Buffer.alloc(0) });
  await spool.get(name);
  await spool.remove(name);
  return { check: "bodies", verdict: "ok", message: `objects in ${config.bodies} can be read, written and removed` };
}

/**
 * Why a folder cannot be written; undefined if it can. The folder is created on first use. If it does not exist, the
 * nearest existing parent must be writable.
 */
async function writingProblem(folder: string): Promise<string | undefined> {
  try {
    await access(folder, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === "ENOENT" && dirname(folder) !== folder ? writingProblem(dirname(folder)) : message;
  }
}
