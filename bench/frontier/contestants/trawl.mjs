/** Trawl's frontier on Redis or SQLite, used only through its contract. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { BENCH_FOLDER } from "../../harness/folders.mjs";
import { loadTrawl } from "../load-trawl.mjs";

const LEASE_MS = 60_000;
const WORKERS = 4;
/** How long an idle worker waits at most, if no task becomes due. Longer than any measurement. */
const IDLE_MS = 600_000;

/** No limit on rate or concurrency. */
export const UNLIMITED = { intervalMs: 0, burst: 1, perSite: 1_000_000 };
const JOB = "bench";
/** How often an idle worker polls without being woken up. */
const POLL_MS = 5_000;
const BUSY_MS = 5_000;

export async function openTrawl({ url, variant, from, prefix = "trawl" }) {
  const { openRedisFrontier, clock, log } = await loadTrawl(from);
  const options = { prefix, shards: 1, maxPending: 1e9, retryForMs: 10_000, pollMs: POLL_MS, time: "broker" };
  return contestantOf({ clock, variant, open: () => openRedisFrontier(url, { clock, log }, options) });
}

/** Opens a frontier on SQLite. The broker file is in a folder of its own. */
export async function openEmbedded({ variant, from }) {
  const { openSqliteFrontier, clock } = await loadTrawl(from);
  mkdirSync(join(BENCH_FOLDER, "tmp"), { recursive: true });
  const folder = mkdtempSync(join(BENCH_FOLDER, "tmp/frontier-"));
  const options = { maxPending: 1e9, busyMs: BUSY_MS, pollMs: POLL_MS };
  const open = async () => openSqliteFrontier(join(folder, "broker.db"), { clock }, options);
  const contestant = await contestantOf({ clock, variant, open });
  return {
    ...contestant,
    /** The bytes of the broker file and its write-ahead log. */
    usedBytes: () => readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0),
    async close() {
      await contestant.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function contestantOf({ clock, open, variant: { max = 500 } }) {
  const frontier = await open();
  const opened = [frontier];
  const stopping = new AbortController();
  await createJob(frontier, UNLIMITED);

  /** Opens the frontier again, with separate connections, as another worker process would. */
  async function openAnother() {
    const another = await open();
    opened.push(another);
    return another;
  }

  return {
    frontier,
    openAnother,
    clock,
    createJob,
    submit: (tasks, jobId = JOB) => submit(frontier, tasks, jobId),
    settleAll: (grants) => settleAll(frontier, grants),
    lease: (most, worker) => lease(frontier, most, worker),
    async drain(total) {
      let ended = 0;
      const keepDraining = async (_, nth) => {
        while (ended < total) {
          const count = await leaseAndSettle(frontier, max, `worker-${nth}`);
          ended += count;
        }
      };
      await Promise.all(Array.from({ length: WORKERS }, keepDraining));
    },
    async serve(onUrl) {
      const worker = await openAnother();
      whileIdle(worker, "idle", stopping.signal, async ({ grants }) => {
        for (const grant of grants) onUrl(grant.url);
        await settleAll(worker, grants);
      });
    },
    async idle(count) {
      const workers = [];
      for (let nth = 0; nth < count; nth++) workers.push(await openAnother());
      workers.map((worker, nth) => whileIdle(worker, `idle-${nth}`, stopping.signal, () => undefined));
    },
    async close() {
      stopping.abort();
      await Promise.all(opened.map((one) => one.close()));
    },
  };
}

function createJob(frontier, policy, id = JOB) {
  const retries = { max: 4, backoffMs: 1_000 };
  const [limits, sites, spec, dedup] = [{}, {}, {}, { scope: "job" }];
  const parts = { policy, sites, robots: false, retries, limits, dedup, spec };
  return frontier.createJob({ id, name: "bench", queue: "fetch", priority: 5, ...parts });
}

async function submit(frontier, tasks, jobId) {
  const rest = { kind: "fetch", queue: "fetch", priority: 5, depth: 0 };
  const answer = await frontier.enqueue(
    jobId,
    tasks.map(({ url, site }) => ({ url, site, ...rest })),
  );
  if (answer.full !== undefined) throw new Error(`the frontier was full after ${answer.full.taken} tasks of a batch`);
  return answer.queued;
}

/** Leases up to `max` tasks and settles them. Returns their number. */
async function leaseAndSettle(frontier, max, worker) {
  const grants = await lease(frontier, max, worker);
  if (grants.length > 0) await settleAll(frontier, grants);
  return grants.length;
}

async function lease(frontier, max, worker) {
  const { grants } = await frontier.lease(requestOf(worker, max));
  return grants;
}

function requestOf(worker, max) {
  return { worker, queues: ["fetch"], max, maxNow: max, leaseMs: LEASE_MS, lookaheadMs: 0, returned: [] };
}

async function settleAll(frontier, grants) {
  const tally = { pages: 1, records: 1, invalid: 0, bytes: 20_000 };
  const rest = { outcome: { kind: "done" }, discovered: [], refusedLinks: 0, site: { kind: "ok" }, tally };
  const { states } = await frontier.settle(grants.map(({ taskId, token }) => ({ taskId, token, ...rest })));
  if (states.includes("stale")) throw new Error("a settlement was stale");
}

/** The loop of a worker: it leases, works, and waits for a wake-up if there is no task. */
export async function whileIdle(frontier, worker, signal, onGrants) {
  while (!signal.aborted) {
    const answer = await frontier.lease(requestOf(worker, 100));
    if (answer.grants.length > 0) await onGrants(answer);
    else await frontier.waitForWork(answer.nextDueAt ?? Date.now() + IDLE_MS, signal);
  }
}
