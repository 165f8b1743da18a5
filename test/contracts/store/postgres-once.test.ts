/** Calls on PostgreSQL that would count twice if they were made twice, over a line that loses their answers. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { SCOPES } from "../../../src/domain/api-key.ts";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.ts";
import type { NewSchedule } from "../../../src/store/schedule-store.ts";
import type { ControlStores } from "../../../src/store/store.ts";
import { type LossyProxy, openLossyProxy } from "../../redis/lossy-proxy.ts";
import { findPostgresObstacle, type PostgresServer, startPostgres } from "../../services/postgres.ts";
import { preparePostgres } from "./postgres-site.ts";
import { SILENT_DEPS } from "./silent-deps.ts";

const obstacle = findPostgresObstacle();
const NOW = 1_750_000_000_000;
const BUCKET = { perSecond: 1, capacity: 100, now: NOW };
const QUOTAS = { pending: undefined, urlsPerSecond: 1, jobs: undefined };

const SCHEDULE: NewSchedule = {
  ...{ id: "s1", tenant: undefined, name: "daily", paused: false, job: { urls: ["https://a.example/"] } },
  ...{ overlap: "queue", catchUp: "one", catchUpMost: 10, createdAt: NOW, doneUntil: NOW, nextAt: NOW + 1000 },
  timing: { kind: "every", everyMs: 1000, anchorAt: NOW },
};

describe.skipIf(obstacle !== undefined)(`a call whose answer is lost (${obstacle ?? "on PostgreSQL"})`, () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  async function open(): Promise<{ store: ControlStores; line: LossyProxy }> {
    const site = preparePostgres(server);
    onTestFinished(() => site.remove());
    const line = await openLossyProxy(server.port);
    const url = site.url.replace(`:${server.port}/`, `:${new URL(line.url).port}/`);
    const store = await openPostgresStore(url, SILENT_DEPS, { patienceMs: 20_000 });
    onTestFinished(() => store.close());
    await store.keys.add({
      ...{ id: "k1", hash: "h", name: "ci", tenant: undefined, scopes: [...SCOPES], quotas: QUOTAS },
      ...{ createdAt: NOW, expiresAt: undefined },
    });
    await store.schedules.add(SCHEDULE);
    return { store, line };
  }

  const left = async ({ keys }: ControlStores) => (await keys.takeTokens("k1", 1000, BUCKET)).granted;

  it("draws once", async () => {
    const { store, line } = await open();

    const lost = line.loseNextAnswer("k1");
    const drawing = store.keys.takeTokens("k1", 30, BUCKET);
    await lost;

    expect(await drawing).toEqual({ granted: 30, nextAt: NOW });
    expect(await left(store)).toBe(70);
  });

  it("changes a key, and counts a job, once", async () => {
    const { store, line } = await open();

    const changing = line.loseNextAnswer("k1");
    const changed = store.keys.change("k1", { name: "renamed" });
    await changing;
    const noting = line.loseNextAnswer("j1");
    const noted = store.owners.add("shop", "j1", NOW, 1);
    await noting;

    expect(await changed).toMatchObject({ name: "renamed", scopes: [...SCOPES] });
    expect(await noted).toBe(true);
    expect(await store.owners.add("shop", "j2", NOW, 1)).toBe(false);
    expect(await store.owners.listOpen("shop", 10)).toHaveLength(1);
  });

  it("puts back at most once", async () => {
    const { store, line } = await open();
    await store.keys.takeTokens("k1", 60, BUCKET);
    await store.keys.returnTokens("k1", 10, BUCKET); // the server knows the statement: one message is the whole call

    const lost = line.loseNextAnswer("k1");
    const putting = store.keys.returnTokens("k1", 20, BUCKET);
    await lost;
    await putting;

    expect([50, 70]).toContain(await left(store));
  });

  it("never grants more than is there, whatever is lost while several draw at once", async () => {
    const { store, line } = await open();
    await left(store).then((all) => store.keys.returnTokens("k1", all, BUCKET));
    const drawing = Promise.all(Array.from({ length: 30 }, () => store.keys.takeTokens("k1", 5, BUCKET)));
    for (let nth = 0; nth < 4; nth += 1) await Promise.race([line.loseNextAnswer("k1"), drawing]);

    const granted = (await drawing).reduce((sum, one) => sum + one.granted, 0);

    expect(granted).toBeLessThanOrEqual(100);
    expect(await left(store)).toBe(0);
  });

  it("runs a schedule now, once", async () => {
    const { store, line } = await open();
    const known = await store.schedules.find("s1");
    if (known === undefined) throw new Error("it was added");
    const to = { doneUntil: NOW + 1000, nextAt: NOW + 2000 };
    await store.schedules.advance({ ...known, version: 0 }, to, []); // the server knows the statement

    const lost = line.loseNextAnswer("manual");
    const moving = store.schedules.advance(known, to, [{ at: NOW + 1000, kind: "manual" }]);
    await lost;

    // It does not know that it was made: whoever asked finds the slot.
    expect(await moving).toBe(false);
    expect(await store.schedules.findOccurrence({ scheduleId: "s1", at: NOW + 1000, kind: "manual" })).toBeDefined();
    expect(await store.schedules.listOccurrences("s1", 10, NOW + 10_000)).toHaveLength(1);
  });
});
