/** A job whose dead letters were replayed counts as open again, even if the store fails during the replay. */
import { expect, it } from "vitest";
import { replayDead } from "../../src/control/replay-dead.ts";
import { tenantOwner } from "../../src/submit/with-tenant.ts";
import { aJob, grantsOf, settleAll, submit, tasksAt } from "../contracts/frontier/makers.ts";
import { startApi } from "./harness.ts";

const REPLAY = { limit: 10, perSecond: 10 };
const FILTER = { jobId: "job" };

it("retries if the store fails for a moment", async () => {
  const { deps, state } = await aDeadJob({ failures: 2 });

  expect(await replayDead(deps, FILTER, REPLAY)).toBe(1);

  expect(await state()).toEqual({ open: ["job"], reopened: 1 });
});

it("reopens the job in the second call if the first one failed", async () => {
  const { deps, state } = await aDeadJob({ failures: 4 });

  await expect(replayDead(deps, FILTER, REPLAY)).rejects.toThrow("the store failed");
  expect((await state()).reopened).toBe(0);
  expect(await replayDead(deps, FILTER, REPLAY)).toBe(0);

  expect(await state()).toEqual({ open: ["job"], reopened: 1 });
});

it("replays nothing if the store fails at the start, and reopens no webhook if nothing was replayed", async () => {
  const { deps, state, trawl } = await aDeadJob({ failures: 0 });
  const setOpen = () => Promise.reject(new Error("the store failed"));
  const failing = { ...deps, store: { ...deps.store, owners: { ...deps.store.owners, setOpen } } };

  await expect(replayDead(failing, FILTER, REPLAY)).rejects.toThrow("the store failed");
  expect(await trawl.frontier.countDead()).toBe(1);
  await trawl.frontier.discardDead({}, 10);
  expect(await replayDead(deps, FILTER, REPLAY)).toBe(0);
  expect((await state()).reopened).toBe(0);
});

/** An ended job of a tenant with a dead letter, and a store whose webhook table fails `failures` times. */
async function aDeadJob({ failures }: { failures: number }) {
  const { trawl } = await startApi();
  const { frontier, store } = trawl;
  await submit(frontier, aJob(), tasksAt("a.test", 1));
  await frontier.seal("job");
  await settleAll(frontier, await grantsOf(frontier), {
    outcome: { kind: "dead", because: "http_status", status: 404 },
  });
  const owner = tenantOwner("acme");
  await store.owners.add(owner, "job", 1, undefined);
  await store.owners.setOpen(["job"], false);
  let [left, reopened] = [failures, 0];
  const reopen: typeof store.webhooks.reopen = async (...args) => {
    if (left-- > 0) throw new Error("the store failed");
    reopened += 1;
    return store.webhooks.reopen(...args);
  };
  const deps = {
    frontier,
    store: { ...store, webhooks: { ...store.webhooks, reopen } },
    clock: { now: trawl.clock.now, sleep: async () => {} },
  };
  const open = async () => (await store.owners.listOpen(owner, 10)).map(({ jobId }) => jobId);
  return { trawl, deps, state: async () => ({ open: await open(), reopened }) };
}
