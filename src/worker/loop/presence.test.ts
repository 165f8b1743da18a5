import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createManualClock, type ManualClock } from "../../../test/model/manual-clock.ts";
import type { WorkerCommand } from "../../frontier/frontier.ts";
import { openSqliteFrontier } from "../../frontier/sqlite/open.ts";
import { createLog } from "../../runtime/log.ts";
import { createPresence } from "./presence.ts";

const EVERY_MS = 5_000;

describe("the presence of a worker", () => {
  let clock: ManualClock;
  let frontier: ReturnType<typeof openSqliteFrontier>;
  let lines: string[];
  let commands: WorkerCommand[];
  beforeEach(() => {
    clock = createManualClock(1_750_000_000_000);
    frontier = openSqliteFrontier(":memory:", { clock }, { maxPending: 1, busyMs: 100, pollMs: 100 });
    lines = [];
    commands = [];
  });
  afterEach(() => frontier.close());

  function aPresence(unknownSpiders: string[] = []) {
    const describe = () => ({ worker: "host/1/2", queues: ["fetch"], version: "1.0.0", unknownSpiders });
    const log = createLog("warn", (line) => void lines.push(line));
    const onCommand = (command: WorkerCommand) => void commands.push(command);
    return createPresence({ frontier, describe, onCommand, clock, log }, { everyMs: EVERY_MS });
  }

  /** Lets pending callbacks run. */
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  it("is announced from start to stop, with its current state", async () => {
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

  it("passes on each command once, and announces again at once", async () => {
    const spiders: string[] = [];
    const presence = aPresence(spiders);
    presence.start();
    await settled();
    await frontier.commandWorker("host/1/2", "recycle");
    expect(commands).toEqual([]);
    clock.advance(EVERY_MS);
    await settled();
    expect(commands).toEqual(["recycle"]);
    spiders.push("/srv/second.ts");
    clock.advance(EVERY_MS);
    await settled();
    expect(await frontier.listWorkers()).toMatchObject([{ command: "recycle", unknownSpiders: ["/srv/second.ts"] }]);

    await frontier.commandWorker("host/1/2", "drain");
    clock.advance(EVERY_MS);
    await settled();
    expect(commands).toEqual(["recycle", "drain"]);
    await presence.stop();
    expect(await frontier.listWorkers()).toEqual([]);
  });

  it("logs a warning and stops at once if the broker is lost", async () => {
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

  it("does nothing if it is stopped before it is started", async () => {
    await aPresence().stop();

    expect(await frontier.listWorkers()).toEqual([]);
  });
});
