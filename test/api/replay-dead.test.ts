/** Jobs that run again with replayed letters are in the books again, whatever happens to the store in between. */
import { expect, it } from "vitest";
import { replayDead } from "../../src/api/replay-dead.ts";
import { tenantOwner } from "../../src/submit/with-tenant.ts";
import { aJob, grantsOf, settleAll, submit, tasksAt } from "../contracts/frontier/makers.ts";
import { startApi } from "./harness.ts";

const REPLAY = { limit: 10, perSecond: 10 };
const FILTER = { jobId: "job" };

it("tells the books again where the store was away for a moment", async () => {
  const { deps, told } = await aDeadJob({ failures: 2 });

  expect(await replayDead(deps, FILTER, REPLAY)).toBe(1);

  expect(await told()).toEqual({ open: ["job"], reopened: 1 });
});

it("tells the books at the second call where they could not be told at the first", async () => {
  const { deps, told } = await aDeadJob({ failures: 4 });

  await expect(replayDead(deps, FILTER, REPLAY)).rejects.toThrow("the store is away");
  expect((await told()).reopened).toBe(0);
  expect(await replayDead(deps, FILTER, REPLAY)).toBe(0);

  expect(await told()).toEqual({ open: ["job"], reopened: 1 });
});

it("queues nothing where the store is away from the start, and tells no end twice where nothing runs again", async () => {
  const { deps, told, trawl } = await aDeadJob({ failures: 0 });
  const setOpen = () => Promise.reject(new Error("the store is away"));
  const away = { ...deps, store: { ...deps.store, owners: { ...deps.store.owners, setOpen } } };

  await expect(replayDead(away, FILTER, REPLAY)).rejects.toThrow("the store is away");
  expect(await trawl.frontier.countDead()).toBe(1);
  await trawl.frontier.discardDead({}, 10);
  expect(await replayDead(deps, FILTER, REPLAY)).toBe(0);
  expect((await told()).reopened).toBe(0);
});

/** A job of a tenant that has ended with a dead letter, and a store whose book of webhooks fails so often before it works. */
async function aDeadJob({ failures }: { failures: number }) {
  const { trawl } = await startApi();
  const { frontier, store } = trawl;
  await submit(frontier, aJob(), tasksAt("a.test", 1));
  await frontier.seal("job");
  await settleAll(frontier, await grantsOf(frontier), {
    outcome: { kind: "dead", because: "http_status", status: 404 },
  });
  const owner = tenantOwner("acme");
  await store.owners.note(owner, "job", 1, undefined);
  await store.owners.setOpen(["job"], false);
  let [left, reopened] = [failures, 0];
  const reopen: typeof store.webhooks.reopen = async (...words) => {
    if (left-- > 0) throw new Error("the store is away");
    reopened += 1;
    return store.webhooks.reopen(...words);
  };
  const deps = {
    frontier,
    store: { ...store, webhooks: { ...store.webhooks, reopen } },
    clock: { now: trawl.clock.now, sleep: async () => {} },
  };
  const open = async () => (await store.owners.listOpen(owner, 10)).map(({ jobId }) => jobId);
  return { trawl, deps, told: async () => ({ open: await open(), reopened }) };
}
