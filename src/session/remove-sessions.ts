/**
 * Removes the sessions of a job from the broker. Retention calls it before it removes the job itself. It may be called
 * twice. After a crash, the job is still in the broker, and the next call removes the rest.
 */
import { type SessionSpec, sessionKey } from "../domain/session-spec.ts";
import { type Frontier, MAX_BATCH } from "../frontier/frontier.ts";

type Deps = Pick<Frontier, "findValue" | "keepValue"> & {
  listJobSites(jobId: string, limit: number, after?: string): Promise<readonly { site: string }[]>;
};

type JobOfSessions = { id: string; spec: { sessions?: SessionSpec | undefined } };

/** Sessions that are removed at the same time. */
const AT_ONCE = 20;

export async function removeSessions(deps: Deps, { id, spec }: JobOfSessions, signal: AbortSignal): Promise<void> {
  const { sessions } = spec;
  if (sessions === undefined) return;
  const isPerSite = sessions.per === "site";
  for (let after: string | undefined; ; ) {
    const sites = isPerSite ? (await deps.listJobSites(id, MAX_BATCH, after)).map(({ site }) => site) : [""];
    for (const site of sites) {
      for (let number = 0; number < sessions.count; number += AT_ONCE) {
        if (signal.aborted) return;
        const length = Math.min(AT_ONCE, sessions.count - number);
        const keys = Array.from({ length }, (_, nth) => sessionKey(sessions, id, site, number + nth));
        await Promise.all(keys.map((key) => removeSession(deps, key, sessions)));
      }
    }
    after = sites.at(-1);
    if (!isPerSite || sites.length < MAX_BATCH) return;
  }
}

/** Removes a session and those that replaced it. The first one contains their number, so it is removed last. */
async function removeSession(deps: Deps, key: string, { rotateAfter }: SessionSpec): Promise<void> {
  const found = await deps.findValue(key);
  const { uses = 0, replaced = 0 }: { uses?: number; replaced?: number } =
    found === undefined ? {} : JSON.parse(found.value);
  const generations = replaced + (rotateAfter === undefined ? 0 : uses / rotateAfter);
  if (generations > 0 || rotateAfter !== undefined) {
    // A worker that was killed may have used a generation without counting it.
    for (let nth = 0; (await remove(deps, `${key}:${nth}`)) || nth < generations; nth++) {}
  }
  await remove(deps, key);
}

/** Returns whether there was such a value. */
async function remove(deps: Deps, key: string): Promise<boolean> {
  const found = await deps.findValue(key);
  if (found !== undefined) await deps.keepValue(key, found.value, { version: found.version, ttlMs: 1 });
  return found !== undefined;
}
