/** Looks at the broker, the store and the folder of bodies: there, ours, writable? Each trouble is a finding. */
import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { dirname } from "node:path";
import { openStore } from "../../compose.ts";
import { bodiesPlace, openBodies } from "../../compose-bodies.ts";
import { shownPlace } from "../../config/place.ts";
import type { Config } from "../../config/schema.ts";
import { ERRORS, isTrawlError } from "../../errors.ts";
import type { Finding } from "../../frontier/frontier-admin.ts";
import { systemClock } from "../../runtime/clock.ts";
import { createLog } from "../../runtime/log.ts";
import { openDatabase } from "../../runtime/sqlite.ts";
import { withFileErrors } from "../../runtime/sqlite-failure.ts";
import { isPostgresUrl } from "../../store/postgres/place.ts";
import { checkPostgres } from "./check-postgres.ts";

/** What is wrong with a place that gave this error; bugs of ours are thrown on. */
export function troubleWith(check: string, error: unknown): Finding {
  if (!isTrawlError(error)) throw error;
  return { check, verdict: "problem", says: error.message, fix: ERRORS[error.code].fix };
}

/** Somebody is waiting for the answer, and "not there" is one. */
const PATIENCE_MS = 5_000;

export async function checkStore(config: Config): Promise<Finding[]> {
  // Its complaints while connecting would only say what the finding says.
  const deps = { clock: systemClock(), log: createLog("silent", () => {}) };
  const storePatienceMs = Math.min(config.storePatienceMs, PATIENCE_MS);
  try {
    const store = await openStore({ ...config, storePatienceMs }, deps); // refuses what is no store, or a newer one
    await store.close();
    if (isPostgresUrl(config.store)) return await checkPostgres(config.store, deps, { patienceMs: storePatienceMs });
    tryWriting(config.store.replace(/^sqlite:/, ""));
    return [{ check: "store", verdict: "ok", says: `${shownPlace(config.store)} can be read and written` }];
  } catch (error) {
    return [troubleWith("store", error)];
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
    if (place.kind === "none") return { check, verdict: "ok", says: "not kept" };
    if (place.kind === "bucket") return await checkBucket(config);
    const problem = await writingProblem(place.path);
    if (problem === undefined) return { check, verdict: "ok", says: `${place.path} can be written` };
    const fix = "give this user the right to write there, or name another folder in TRAWL_BODIES";
    return { check, verdict: "problem", says: `${place.path}: ${problem}`, fix };
  } catch (error) {
    return troubleWith(check, error);
  }
}

/** By doing once what workers do: what keys may do shows only when they are used. */
async function checkBucket(config: Config): Promise<Finding> {
  const { parcels } = await openBodies(config, { clock: systemClock() }, { tries: 1 });
  const name = { jobId: "doctor", taskId: randomUUID() };
  const page = { url: "about:blank", status: 200, headers: {}, contentType: undefined, bodyBytes: 0 };
  await parcels.put(name, { page: { ...page, tookMs: 0, fetchedAt: 0 }, body: Buffer.alloc(0) });
  await parcels.get(name);
  await parcels.remove(name);
  return { check: "bodies", verdict: "ok", says: `${config.bodies} can be read, written and removed from` };
}

/** It is made when first needed: then what counts is whether it could be. */
async function writingProblem(folder: string): Promise<string | undefined> {
  try {
    await access(folder, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === "ENOENT" && dirname(folder) !== folder ? writingProblem(dirname(folder)) : message;
  }
}
