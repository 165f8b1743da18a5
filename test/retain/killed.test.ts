/**
 * Processes that archive or delete jobs are killed before each of their calls to a real Redis. An archived job is
 * found exactly once at any moment. A deleted job is either complete or deleted.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type App, openApp } from "../../src/compose/app.ts";
import { retentionDeps } from "../../src/compose/retention.ts";
import { resolveConfig } from "../../src/config/resolve.ts";
import { archiveEnded } from "../../src/retain/archive-ended.ts";
import { cleanUpAll } from "../../src/retain/delete-job.ts";
import { isScriptCall, openCountingProxy } from "../api/counting-proxy.ts";
import { aJob, grantsOf, settleAll, submit, tasksAt } from "../contracts/frontier/makers.ts";
import { newPrefix } from "../contracts/frontier/redis-backend.ts";
import { aPageWrite } from "../contracts/store/page-write.ts";
import { startTrawl } from "../e2e/cli.ts";
import { newFolder } from "../e2e/folder.ts";
import { useProgram } from "../services/program.ts";
import { findRedisObstacle, type RedisServer, startRedis } from "../services/redis.ts";
import { aJobSpec } from "../submit/a-job-spec.ts";

const program = useProgram(new URL("./archiver-process.ts", import.meta.url));
const UNSTOPPED = new AbortController().signal;
/** Both processes make fewer calls than this. */
const MAX_STEPS = 40;

describe.skipIf(findRedisObstacle("redis-server") !== undefined)("killed before any call to the broker", () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  /** A broker and a store, opened by this process, and a proxy to the broker for the process that is killed. */
  async function prepare() {
    const folder = newFolder();
    const values = {
      ...{ broker: redis.url, brokerPrefix: newPrefix(), logLevel: "silent" },
      ...{ store: `sqlite:${join(folder, "store.db")}`, bodies: `file:${join(folder, "bodies")}` },
    };
    const trawl = await openApp(resolveConfig([{ from: "test", values }]), () => {});
    onTestFinished(() => trawl.close());
    const proxy = await openCountingProxy(redis.port, isScriptCall);
    const env = { TRAWL_BROKER: proxy.url, TRAWL_BROKER_PREFIX: values.brokerPrefix, TRAWL_STORE: values.store };
    return { trawl, proxy, folder, values, env: { ...env, TRAWL_BODIES: values.bodies } };
  }

  async function anEndedJob({ frontier, store }: App, id: string): Promise<void> {
    await submit(frontier, aJob({ id, spec: aJobSpec({ id }) }), tasksAt("a.test", 5));
    await frontier.seal(id);
    const grants = await grantsOf(frontier, { max: 5 });
    await settleAll(frontier, grants.slice(0, 2), { outcome: { kind: "dead", because: "too_big" } });
    await store.write(grants.slice(2).map(({ taskId, token }) => aPageWrite({ jobId: id, taskId, token })));
    await settleAll(frontier, grants.slice(2));
  }

  it("a process that archives jobs leaves each of them listed exactly once", async () => {
    const { trawl, proxy, values } = await prepare();
    const { frontier, catalogue } = trawl;
    const outcomes = new Set<string>();

    for (let nth = 1; nth <= MAX_STEPS; nth++) {
      const id = `j${nth}`;
      await anEndedJob(trawl, id);
      const before = await catalogue.find(id);
      const config = JSON.stringify({ ...values, broker: proxy.url });
      const archiver = spawn(process.execPath, [program(), config], { stdio: ["ignore", "inherit", "inherit"] });
      const ended = once(archiver, "exit");
      onTestFinished(() => void archiver.kill("SIGKILL"));
      proxy.at(nth, "before", () => archiver.kill("SIGKILL"));
      // The job is in the list at any moment, exactly once.
      while (archiver.exitCode === null && archiver.signalCode === null) {
        const listed = (await catalogue.list(100)).filter((job) => job.id === id);
        expect(listed).toHaveLength(1);
        expect(await catalogue.find(id)).toMatchObject({ id, counts: before?.counts, tally: before?.tally });
      }
      const [, signal] = (await ended) as [number | null, NodeJS.Signals | null];
      const isForgotten = (await frontier.findJob(id)) === undefined;
      const isKept = (await trawl.store.archive.find(id)) !== undefined;
      outcomes.add(isForgotten ? "only in the archive" : isKept ? "in both" : "only in the broker");

      await archiveEnded(retentionDeps(trawl), Infinity, UNSTOPPED);
      await frontier.reap(100);
      expect(await catalogue.find(id)).toMatchObject({ archived: true, state: "finished", counts: before?.counts });
      expect(await frontier.listDead({}, 10)).toEqual([]);
      if (signal === null) break; // it ended before that call
    }

    expect([...outcomes].sort()).toEqual(["in both", "only in the archive", "only in the broker"]);
  });

  it("a command that deletes a job leaves it complete or deleted", async () => {
    const { trawl, proxy, folder, env } = await prepare();
    const { frontier, catalogue, store } = trawl;
    const outcomes = new Set<string>();

    for (let nth = 1; nth <= MAX_STEPS; nth++) {
      const id = `j${nth}`;
      await anEndedJob(trawl, id);
      const cli = startTrawl(["delete", id], { cwd: folder, env });
      proxy.at(nth, "before", () => cli.kill("SIGKILL"));
      const { signal } = await cli.ended;
      const found = await catalogue.lookUp(id);
      outcomes.add(found === "deleted" ? "deleted" : "complete");
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
      if (signal === null) break; // it ended before that call
    }

    expect([...outcomes].sort()).toEqual(["complete", "deleted"]);
  });
});
