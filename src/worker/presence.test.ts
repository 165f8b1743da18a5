import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createManualClock, type ManualClock } from "../../test/model/manual-clock.ts";
import type { WorkerOrder } from "../frontier/frontier.ts";
import { openSqliteFrontier } from "../frontier/sqlite/open.ts";
import { createLog } from "../runtime/log.ts";
import { createPresence } from "./presence.ts";

const EVERY_MS = 5_000;

describe("the presence of a worker", () => {
  let clock: ManualClock;
  let frontier: ReturnType<typeof openSqliteFrontier>;
  let lines: string[];
  let orders: WorkerOrder[];
  beforeEach(() => {
    clock = createManualClock(1_750_000_000_000);
    frontier = openSqliteFrontier(":memory:", { clock }, { maxPending: 1, busyMs: 100, pollMs: 100 });
    lines = [];
    orders = [];
  });
  afterEach(() => frontier.close());

  function aPresence(unknownSpiders: string[] = []) {
    const describe = () => ({ worker: "host/1/2", queues: ["fetch"], version: "1.0.0", unknownSpiders });
    const log = createLog("warn", (line) => void lines.push(line));
    const onOrder = (order: WorkerOrder) => void orders.push(order);
    return createPresence({ frontier, describe, onOrder, clock, log }, { everyMs: EVERY_MS });
  }

  /** Lets what has been woken run. */
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  it("is there from the start to the stop, and says what has become new", async () => {
    const spiders: string[] = [];
    const presence = aPresence(spiders);
    presence.start();
    await settled();
    expect(await frontier.listWorkers()).toMatchObject([{ worker: "host/1/2", unknownSpiders: [] }]);

    spiders.push("/srv/shop.ts");
    for (let ticks = 0; ticks < 10; ticks++) {
      clock.advance(EVERY_MS);
      await settled();
      expect(await frontier.listWorkers()).toMatchObject([{ unknownSpiders: ["/srv/shop.ts"], seenAt: clock.now() }]);
    }
    await presence.stop();
    expect(await frontier.listWorkers()).toEqual([]);
    expect(lines).toEqual([]);
  });

  it("hears each order once, and tells at once what has become of it", async () => {
    const spiders: string[] = [];
    const presence = aPresence(spiders);
    presence.start();
    await settled();
    await frontier.orderWorker("host/1/2", "recycle");
    expect(orders).toEqual([]);
    clock.advance(EVERY_MS);
    await settled();
    expect(orders).toEqual(["recycle"]);
    spiders.push("/srv/said-again.ts");
    clock.advance(EVERY_MS);
    await settled();
    expect(await frontier.listWorkers()).toMatchObject([{ order: "recycle", unknownSpiders: ["/srv/said-again.ts"] }]);

    await frontier.orderWorker("host/1/2", "drain");
    clock.advance(EVERY_MS);
    await settled();
    expect(orders).toEqual(["recycle", "drain"]);
    await presence.stop();
    expect(await frontier.listWorkers()).toEqual([]);
  });

  it("is only missing, and ends at once, where the broker is lost", async () => {
    const presence = aPresence();
    presence.start();
    await settled();
    await frontier.close();
    clock.advance(EVERY_MS);
    await settled();
    await presence.stop();

    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain("presence.announce_failed");
  });

  it("does nothing when it is stopped before it was started", async () => {
    await aPresence().stop();

    expect(await frontier.listWorkers()).toEqual([]);
  });
});
