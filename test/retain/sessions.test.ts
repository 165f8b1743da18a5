/** The sessions of jobs that are archived or deleted, on both brokers. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { openApp } from "../../src/compose/app.ts";
import { retentionDeps } from "../../src/compose/retention.ts";
import { resolveConfig } from "../../src/config/resolve.ts";
import { type SessionSpec, sessionKey } from "../../src/domain/session-spec.ts";
import { archiveEnded } from "../../src/retain/archive-ended.ts";
import { cleanUpAll } from "../../src/retain/delete-job.ts";
import { createSessionStore } from "../../src/session/session-store.ts";
import { aJob, aTask, grantsOf, settleAll, submit } from "../contracts/frontier/makers.ts";
import { newPrefix } from "../contracts/frontier/redis-backend.ts";
import { newFolder } from "../e2e/folder.ts";
import { findRedisObstacle, type RedisServer, startRedis } from "../services/redis.ts";
import { aJobSpec } from "../submit/a-job-spec.ts";

const UNSTOPPED = new AbortController().signal;
const SITES = ["a.test", "b.test"];
const SESSIONS: SessionSpec = { count: 25, per: "site", rotateAfter: 2 };
const USES = 7; // the generations 0 to 3

describe.each(["sqlite", "redis"])("the sessions of a job on %s", (broker) => {
  const isSkipped = broker === "redis" && findRedisObstacle("redis-server") !== undefined;
  let redis: RedisServer | undefined;
  beforeAll(async () => {
    if (broker === "redis" && !isSkipped) redis = await startRedis();
  });
  afterAll(() => redis?.stop());

  async function openTrawl() {
    const folder = newFolder();
    const values = {
      ...{ broker: redis?.url ?? `sqlite:${join(folder, "broker.db")}`, brokerPrefix: newPrefix(), logLevel: "silent" },
      ...{ store: `sqlite:${join(folder, "store.db")}`, bodies: `file:${join(folder, "bodies")}` },
    };
    const trawl = await openApp(resolveConfig([{ from: "test", values }]), () => {});
    onTestFinished(() => trawl.close());
    return trawl;
  }

  /** An ended job whose sessions were all used. Returns the keys of its sessions. */
  async function endedJob({ frontier, clock, log }: Awaited<ReturnType<typeof openTrawl>>, id: string) {
    await submit(
      frontier,
      aJob({ id, spec: aJobSpec({ id, sessions: SESSIONS }) }),
      SITES.map((site) => aTask(`https://${site}/`)),
    );
    await frontier.seal(id);
    await settleAll(frontier, await grantsOf(frontier, { max: 5 }));
    const store = createSessionStore({ values: frontier, clock, log });
    const keys = SITES.flatMap((site) =>
      Array.from({ length: SESSIONS.count }, (_, number) => sessionKey(SESSIONS, id, site, number)),
    );
    for (const key of keys) {
      const session = await store.open(key);
      for (let uses = 0; uses < USES; uses++) session.use();
      for (let nth = 0; nth < USES / 2; nth++) await (await store.open(`${key}:${nth}`)).loggedIn();
    }
    await store.flush();
    return keys.flatMap((key) => [key, ...[0, 1, 2, 3].map((nth) => `${key}:${nth}`)]);
  }

  it.skipIf(isSkipped)("are removed from the broker when it is archived or deleted, those of others stay", async () => {
    const trawl = await openTrawl();
    const { frontier, store, clock } = trawl;
    const left = async (keys: readonly string[]) => {
      const found = await Promise.all(keys.map((key) => frontier.findValue(key)));
      return found.filter((value) => value !== undefined).length;
    };
    const [archived, deleted, kept] = [
      await endedJob(trawl, "archived"),
      await endedJob(trawl, "deleted"),
      await endedJob(trawl, "kept"),
    ];
    expect([await left(archived), await left(deleted)]).toEqual([250, 250]);

    await store.archive.markDeleted("deleted", clock.now());
    const deps = retentionDeps(trawl);
    await cleanUpAll(deps, UNSTOPPED);
    expect([await left(archived), await left(deleted), await left(kept)]).toEqual([250, 0, 250]);

    const listEnded = async (before: number, limit: number) =>
      (await frontier.listEnded(before, limit)).filter(({ id }) => id === "archived");
    const only = { ...frontier, listEnded };
    await archiveEnded({ ...deps, frontier: only }, Number.POSITIVE_INFINITY, UNSTOPPED);
    expect([await left(archived), await left(kept)]).toEqual([0, 250]);
  });
});
