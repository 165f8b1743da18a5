import { beforeEach, describe, expect, it } from "vitest";
import { createManualClock, type ManualClock } from "../../test/model/manual-clock.ts";
import type { Frontier } from "../frontier/frontier.ts";
import { openSqliteFrontier } from "../frontier/sqlite/open.ts";
import { createLog } from "../runtime/log.ts";
import { createSessionStore, type SessionStore } from "./session-store.ts";

const URL_A = "http://a.example/";

describe("sessions", () => {
  let clock: ManualClock;
  let frontier: Frontier;
  let stores: SessionStore[];

  beforeEach(() => {
    clock = createManualClock(1_750_000_000_000);
    frontier = openSqliteFrontier(":memory:", { clock }, { maxPending: 100, busyMs: 100, pollMs: 1e9 });
    stores = [1, 2].map(() => createSessionStore({ values: frontier, clock, log: createLog("silent", () => {}) }));
  });

  const open = async (nth: number) => (await stores[nth]?.open("session:j:0")) ?? expect.fail();

  it("share their cookies with other workers, which read them after a second", async () => {
    const [one, other] = [await open(0), await open(1)];
    one.jar.receive(URL_A, ["sid=1"]);
    one.changed();
    clock.advance(200);
    await stores[0]?.flush();

    expect((await open(1)).jar.headerFor(URL_A)).toBeUndefined();
    clock.advance(1_000);
    expect((await open(1)).jar.headerFor(URL_A)).toBe("sid=1");
    expect(await open(1)).toBe(other);
  });

  it("merge the changes of workers that write at the same time", async () => {
    const [one, other] = [await open(0), await open(1)];
    one.jar.receive(URL_A, ["a=1", "c=1"]);
    other.jar.receive(URL_A, ["b=2", "c=2"]);
    await Promise.all(stores.map((store) => store.flush()));

    const third = await createSessionStore({ values: frontier, clock, log: createLog("silent", () => {}) }).open(
      "session:j:0",
    );
    expect(third.jar.headerFor(URL_A)?.split("; ").sort()).toEqual(["a=1", "b=2", expect.stringMatching(/^c=/)]);
  });

  it("expire once per login, however many tasks report it", async () => {
    const [one, other] = [await open(0), await open(1)];
    await one.loggedIn();
    await other.refresh();
    expect([one.isLoggedIn(), other.isLoggedIn(), other.logins()]).toEqual([true, true, 1]);

    await Promise.all([one.expire(1), other.expire(1)]);
    await other.loggedIn();
    await one.expire(1);
    await one.refresh();

    expect([one.isLoggedIn(), one.logins()]).toEqual([true, 2]);
  });

  it("pause logins that do not help, twice as long each time, up to a minute, until one helps", async () => {
    const [one, other] = [await open(0), await open(1)];
    const pauses: number[] = [];
    for (let login = 1; login <= 5; login++) {
      await one.loggedIn();
      await other.refresh();
      await Promise.all([one.judgeLogin(login, false), other.judgeLogin(login, false), one.judgeLogin(login, false)]);
      await other.refresh();
      expect(other.pauseMs()).toBe(one.pauseMs());
      pauses.push(one.pauseMs());
      clock.advance(one.pauseMs());
      expect([one.pauseMs(), other.pauseMs()]).toEqual([0, 0]);
    }
    expect(pauses).toEqual([10_000, 20_000, 40_000, 60_000, 60_000]);

    await one.loggedIn();
    await one.judgeLogin(6, true);
    await one.loggedIn();
    await one.judgeLogin(7, false);
    expect(one.pauseMs()).toBe(10_000);

    one.worked(7, clock.now());
    expect(one.hasWorkedInPause()).toBe(false); // the request was not started in the pause
    clock.advance(1);
    one.worked(7, clock.now());
    expect([one.hasWorkedInPause(), other.hasWorkedInPause()]).toEqual([true, false]);
    clock.advance(10_000);
    expect(one.hasWorkedInPause()).toBe(false);
  });

  it("count the tasks of all workers", async () => {
    const [one, other] = [await open(0), await open(1)];
    expect([one.use(), one.use()]).toEqual([1, 2]);
    await stores[0]?.flush();
    await other.refresh();

    expect(other.use()).toBe(3);
  });
});
