/** Calls on PostgreSQL that must not take effect twice, over a proxy that loses their replies. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { SCOPES } from "../../../src/domain/api-key.ts";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.ts";
import type { NewSchedule } from "../../../src/store/schedule-store.ts";
import type { ControlStores } from "../../../src/store/store.ts";
import { type LossyProxy, openLossyProxy } from "../../redis/lossy-proxy.ts";
import { findPostgresObstacle, type PostgresServer, startPostgres } from "../../services/postgres.ts";
import { preparePostgres } from "./postgres-fixture.ts";
import { STORE_DEPS } from "./store-deps.ts";

const obstacle = findPostgresObstacle();
const NOW = 1_750_000_000_000;
const BUCKET = { perSecond: 1, capacity: 100, now: NOW };
const QUOTAS = { pending: undefined, urlsPerSecond: 1, jobs: undefined };

const SCHEDULE: NewSchedule = {
  ...{ id: "s1", tenant: undefined, name: "daily", paused: false, job: { urls: ["https://a.example/"] } },
  ...{ overlap: "queue", catchUp: "one", maxCatchUp: 10, createdAt: NOW, doneUntil: NOW, nextAt: NOW + 1000 },
  timing: { kind: "every", everyMs: 1000, anchorAt: NOW },
};

describe.skipIf(obstacle !== undefined)(`a call whose reply is lost (${obstacle ?? "on PostgreSQL"})`, () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  async function open(): Promise<{ store: ControlStores; proxy: LossyProxy }> {
    const fixture = preparePostgres(server);
    onTestFinished(() => fixture.remove());
    const proxy = await openLossyProxy(server.port);
    const url = fixture.url.replace(`:${server.port}/`, `:${new URL(proxy.url).port}/`);
    const store = await openPostgresStore(url, STORE_DEPS, { retryForMs: 20_000 });
    onTestFinished(() => store.close());
    await store.keys.add({
      ...{ id: "k1", hash: "h", name: "ci", tenant: undefined, scopes: [...SCOPES], quotas: QUOTAS },
      ...{ createdAt: NOW, expiresAt: undefined },
    });
    await store.schedules.add(SCHEDULE);
    return { store, proxy };
  }

  const left = async ({ keys }: ControlStores) => (await keys.takeTokens("k1", 1000, BUCKET)).granted;

  it("takes tokens once", async () => {
    const { store, proxy } = await open();

    const lost = proxy.loseNextReply("k1");
    const taking = store.keys.takeTokens("k1", 30, BUCKET);
    await lost;

    expect(await taking).toEqual({ granted: 30, nextAt: NOW });
    expect(await left(store)).toBe(70);
  });

  it("changes a key once, and counts a job once", async () => {
    const { store, proxy } = await open();

    const changing = proxy.loseNextReply("k1");
    const changed = store.keys.change("k1", { name: "renamed" });
    await changing;
    const adding = proxy.loseNextReply("j1");
    const added = store.owners.add("shop", "j1", NOW, 1);
    await adding;

    expect(await changed).toMatchObject({ name: "renamed", scopes: [...SCOPES] });
    expect(await added).toBe(true);
    expect(await store.owners.add("shop", "j2", NOW, 1)).toBe(false);
    expect(await store.owners.listOpen("shop", 10)).toHaveLength(1);
  });

  it("returns tokens at most once", async () => {
    const { store, proxy } = await open();
    await store.keys.takeTokens("k1", 60, BUCKET);
    await store.keys.returnTokens("k1", 10, BUCKET); // prepares the statement, so that the next call is one message

    const lost = proxy.loseNextReply("k1");
    const returning = store.keys.returnTokens("k1", 20, BUCKET);
    await lost;
    await returning;

    expect([50, 70]).toContain(await left(store));
  });

  it("never grants more tokens than the bucket contains, even if replies to concurrent calls are lost", async () => {
    const { store, proxy } = await open();
    await left(store).then((all) => store.keys.returnTokens("k1", all, BUCKET));
    const taking = Promise.all(Array.from({ length: 30 }, () => store.keys.takeTokens("k1", 5, BUCKET)));
    for (let nth = 0; nth < 4; nth += 1) await Promise.race([proxy.loseNextReply("k1"), taking]);

    const granted = (await taking).reduce((sum, one) => sum + one.granted, 0);

    expect(granted).toBeLessThanOrEqual(100);
    expect(await left(store)).toBe(0);
  });

  it("adds a manual occurrence once", async () => {
    const { store, proxy } = await open();
    const known = await store.schedules.find("s1");
    if (known === undefined) throw new Error("the schedule is missing");
    const to = { doneUntil: NOW + 1000, nextAt: NOW + 2000 };
    await store.schedules.advance({ ...known, version: 0 }, to, []); // prepares the statement

    const lost = proxy.loseNextReply("manual");
    const advancing = store.schedules.advance(known, to, [{ at: NOW + 1000, kind: "manual" }]);
    await lost;

    // The store cannot tell that the first call succeeded, but the caller finds the occurrence.
    expect(await advancing).toBe(false);
    expect(await store.schedules.findOccurrence({ scheduleId: "s1", at: NOW + 1000, kind: "manual" })).toBeDefined();
    expect(await store.schedules.listOccurrences("s1", 10, NOW + 10_000)).toHaveLength(1);
  });
});
