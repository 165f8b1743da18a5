/**
 * Whoever archives or deletes jobs, killed before every step that it takes at the broker, on a real Redis. A job that is
 * archived is to be found once, whatever happens; one that is deleted is there whole, or not at all.
 */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { openTrawl, type Trawl } from "../../src/compose.ts";
import { retentionDeps } from "../../src/compose-retention.ts";
import { resolveConfig } from "../../src/config/resolve.ts";
import { archiveEnded } from "../../src/retain/archive-ended.ts";
import { cleanUpAll } from "../../src/retain/delete-job.ts";
import { openCountedLine } from "../api/counted-line.ts";
import { aJob, grantsOf, settleAll, submit, tasksAt } from "../contracts/frontier/makers.ts";
import { newPrefix } from "../contracts/frontier/redis-backend.ts";
import { aPageWrite } from "../contracts/store/page-write.ts";
import { startTrawl } from "../e2e/cli.ts";
import { newFolder } from "../e2e/folder.ts";
import { findRedisObstacle, type RedisServer, startRedis } from "../services/redis.ts";
import { waitUntil } from "../services/wait-until.ts";

const UNSTOPPED = new AbortController().signal;
/** However fast the machine is, none takes more steps. */
const STEPS_MOST = 40;
/** The least that there is. */
const KEPT_MS = 1_000;

describe.skipIf(findRedisObstacle("redis-server") !== undefined)("killed before any step at the broker", () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  /** A broker and a store, us who look at them from aside, and a line that others use. */
  async function prepare() {
    const folder = newFolder();
    const values = {
      ...{ broker: redis.url, brokerPrefix: newPrefix(), logLevel: "silent" },
      ...{ store: `sqlite:${join(folder, "store.db")}`, bodies: `file:${join(folder, "bodies")}` },
    };
    const trawl = await openTrawl(resolveConfig([{ from: "test", values }]), () => {});
    onTestFinished(() => trawl.close());
    const line = await openCountedLine(redis.port);
    const env = { TRAWL_BROKER: line.url, TRAWL_BROKER_PREFIX: values.brokerPrefix, TRAWL_STORE: values.store };
    return { trawl, line, folder, env: { ...env, TRAWL_KEEP_ENDED: `${KEPT_MS}ms`, TRAWL_BODIES: values.bodies } };
  }

  async function anEndedJob({ frontier, store }: Trawl, id: string): Promise<void> {
    await submit(frontier, aJob({ id, spec: { id, urls: [] } }), tasksAt("a.test", 5));
    await frontier.seal(id);
    const grants = await grantsOf(frontier, { max: 5 });
    await settleAll(frontier, grants.slice(0, 2), { outcome: { kind: "dead", because: "too_big" } });
    await store.write(grants.slice(2).map(({ taskId, token }) => aPageWrite({ jobId: id, taskId, token })));
    await settleAll(frontier, grants.slice(2));
  }

  it("a server that archives leaves every job to be found, once", { timeout: 240_000 }, async () => {
    const { trawl, line, folder, env } = await prepare();
    const { frontier, catalogue } = trawl;
    const fates = new Set<string>();

    for (let nth = 1; nth <= STEPS_MOST; nth++) {
      const id = `j${nth}`;
      await anEndedJob(trawl, id);
      const before = await catalogue.find(id);
      // Due when the server comes: its first round takes the same steps each time, and each of them is met once.
      const dueAt = (before?.finishedAt ?? Number.NaN) + KEPT_MS;
      expect(await waitUntil(() => trawl.clock.now() > dueAt, 10 * KEPT_MS)).toBe(true);
      const cli = startTrawl(["serve", "--port", "0"], { cwd: folder, env });
      line.at(nth, "before", () => cli.kill("SIGKILL"));
      // Looked at all the while, it is always there.
      let isOver = false;
      void cli.ended.then(() => {
        isOver = true;
      });
      while (!isOver) {
        const listed = (await catalogue.list(100)).filter((job) => job.id === id);
        expect(listed).toHaveLength(1);
        expect(await catalogue.find(id)).toMatchObject({ id, counts: before?.counts, tally: before?.tally });
      }
      const isForgotten = (await frontier.findJob(id)) === undefined;
      const isKept = (await trawl.store.archive.find(id)) !== undefined;
      fates.add(isForgotten ? "only in the archive" : isKept ? "in both" : "only in the broker");

      await archiveEnded(retentionDeps(trawl), Infinity, UNSTOPPED);
      await frontier.reap(100);
      expect(await catalogue.find(id)).toMatchObject({ archived: true, state: "finished", counts: before?.counts });
      expect(await frontier.listDead({}, 10)).toEqual([]);
      if (isForgotten && fates.size === 3) break;
    }

    expect([...fates].sort()).toEqual(["in both", "only in the archive", "only in the broker"]);
  });

  it("a command that deletes leaves the job whole, or not there", { timeout: 240_000 }, async () => {
    const { trawl, line, folder, env } = await prepare();
    const { frontier, catalogue, store } = trawl;
    const fates = new Set<string>();

    for (let nth = 1; nth <= STEPS_MOST; nth++) {
      const id = `j${nth}`;
      await anEndedJob(trawl, id);
      const cli = startTrawl(["delete", id], { cwd: folder, env });
      line.at(nth, "before", () => cli.kill("SIGKILL"));
      const { signal } = await cli.ended;
      const found = await catalogue.lookUp(id);
      fates.add(found === "deleted" ? "deleted" : "whole");
      if (found === "deleted") expect(await catalogue.list(100)).toEqual([]);
      else {
        expect(found).toMatchObject({ archived: false, counts: { done: 3, dead: 2 } });
        expect(await store.readPages(id, 0, 10)).toHaveLength(3);
        await store.archive.markDeleted(id, trawl.clock.now());
      }

      await cleanUpAll(retentionDeps(trawl), UNSTOPPED);
      await frontier.reap(100);
      expect(await frontier.findJob(id)).toBeUndefined();
      expect(await frontier.listDead({}, 10)).toEqual([]);
      expect(await store.readPages(id, 0, 10)).toEqual([]);
      if (signal === null) break; // it was over before that step came
    }

    expect([...fates].sort()).toEqual(["deleted", "whole"]);
  });
});
