import { setImmediate } from "node:timers/promises";
import { beforeEach, describe, expect, it } from "vitest";
import { createManualClock, type ManualClock } from "../../../test/model/manual-clock.ts";
import type { Claim, Settlement } from "../../frontier/frontier.ts";
import { deferred } from "../../runtime/deferred.ts";
import { createLog } from "../../runtime/log.ts";
import type { TryWrite } from "../../store/store.ts";
import type { ChildExit, HeldTask, PoolChild } from "./child-process.ts";
import { createSupervisor, type Place, type Supervisor } from "./supervisor.ts";

const KILLED: ChildExit = {
  ...{ code: null, signal: "SIGKILL", isClean: false, isOutOfMemory: false },
  ...{ failure: undefined, lack: undefined },
};
const CLEAN: ChildExit = { ...KILLED, code: 0, signal: null, isClean: true };
const TASK: Omit<HeldTask, "beganAt"> = {
  ...{ jobId: "job", taskId: "1", token: 1, url: "https://a.test/", attempt: 1, isAlone: false, isReading: false },
  step: "fetch",
};

/** A process that does what the test says: real ones are in test/e2e/pool. */
type Puppet = PoolChild & {
  tasksEnded: number;
  heardAt: number;
  rssMb: number;
  isDrained: boolean;
  tasks: HeldTask[];
  asked: string[];
  end(exit: ChildExit): Promise<void>;
  retire(): Promise<void>;
};

describe("a supervisor", () => {
  let clock: ManualClock;
  let puppets: Puppet[];
  let tries: TryWrite[];
  let calls: string[];
  let supervisor: Supervisor;

  beforeEach(() => {
    clock = createManualClock(1_750_000_000_000);
    puppets = [];
    tries = [];
    calls = [];
  });

  async function begin(processes: number, servers = 0, led?: Promise<void>): Promise<void> {
    const frontier = {
      settle: async (settlements: readonly Settlement[]) => {
        for (const { taskId, outcome } of settlements) calls.push(`settle ${taskId} ${JSON.stringify(outcome)}`);
        return { verdicts: [], finished: ["j1"] };
      },
      release: async (claims: readonly Claim[]) => void calls.push(`release ${claims.map(({ taskId }) => taskId)}`),
      abandon: async (worker: string) => calls.push(`abandon ${worker}`),
      withdraw: async (worker: string) => void calls.push(`withdraw ${worker}`),
    };
    const events = {
      started: () => {},
      ended: () => {},
      finished: (jobId: string) => void calls.push(`finished ${jobId}`),
      waiting: ({ delayMs }: { delayMs: number }) => void calls.push(`wait ${delayMs}`),
    };
    const log = createLog("silent", () => {});
    const keepTries = async (told: readonly TryWrite[]) => void tries.push(...told);
    const startChild = (_place: Place, now: () => number) => puppet(now(), puppets);
    const limits = { timeLimitMs: 10_000, maxMemoryMb: 100, stuckMs: 40_000 };
    const placesOf = (length: number, group: string | undefined) =>
      Array.from({ length }, (_, index) => ({ nth: index + 1, group }));
    const places = [...placesOf(processes, undefined), ...placesOf(servers, "server")];
    const options = { ...limits, places, graceMs: 1_000, outlasting: new Set(["server"]), ...(led && { led }) };
    const findRssMb = (pid: number) => puppets[pid - 1]?.rssMb;
    supervisor = createSupervisor({ frontier, startChild, findRssMb, keepTries, events, clock, log }, options);
    supervisor.start();
    await settled();
  }

  /** So much time in steps that its looks can follow. */
  async function pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 500) {
      clock.advance(500);
      await settled();
    }
  }

  function last(): Puppet {
    const [puppet] = puppets.slice(-1);
    if (puppet === undefined) throw new Error("nothing was started");
    return puppet;
  }

  it("starts another for one that dies at once only after a while, which doubles until one is of use", async () => {
    await begin(1);
    await last().end(KILLED);
    expect([puppets.length, calls]).toEqual([1, ["abandon w1", "withdraw w1", "wait 1000"]]);
    await pass(1_000);
    expect(puppets).toHaveLength(2);
    await last().end(KILLED);
    await pass(1_500);
    expect(puppets).toHaveLength(2);
    await pass(500);
    expect(puppets).toHaveLength(3);

    last().tasksEnded = 1;
    await last().end(KILLED);
    expect(puppets).toHaveLength(4);
    await last().end(KILLED);
    expect(calls.filter((call) => call.startsWith("wait"))).toEqual(["wait 1000", "wait 2000", "wait 1000"]);
  });

  it("tries less and less often while processes lack something, whatever they got done beside it", async () => {
    await begin(1);
    const lack = { code: "BROWSER_UNAVAILABLE", message: "it did not start" } as const;
    for (const delayMs of [1_000, 2_000, 4_000]) {
      await pass(15_000);
      last().tasksEnded = 7;
      await last().end({ ...KILLED, code: 3, signal: null, lack });
      expect(calls.splice(0).slice(-1)).toEqual([`wait ${delayMs}`]);
    }
    await pass(4_000);
    last().tasksEnded = 7;
    await last().end(CLEAN);
    expect([puppets.length, calls]).toEqual([5, []]);
  });

  it("has the next one begin before one that retires has gone, and waits for both", async () => {
    await begin(1);
    last().tasks = [{ ...TASK, beganAt: 0 }];
    await last().retire();
    expect(puppets).toHaveLength(2);
    last().isDrained = true;
    await last().end(CLEAN);

    let isOver = false;
    void supervisor.ended.then(() => {
      isOver = true;
    });
    await settled();
    expect(isOver).toBe(false);
    await puppets[0]?.end(CLEAN);
    await supervisor.ended;
    expect(calls).toEqual([]); // who ends as it should holds nothing
  });

  it("has no more than one leave while the next is at work", async () => {
    await begin(1);
    for (const nth of [1, 2]) {
      last().tasks = [{ ...TASK, beganAt: 0 }];
      await last().retire();
      expect(puppets, `after ${nth}`).toHaveLength(2);
    }
    await puppets[0]?.end(CLEAN);
    expect(puppets).toHaveLength(3);
  });

  it("drains: each ends what it has in hand and nobody follows it; the server outlasts them, and is stopped", async () => {
    await begin(2, 1);
    const [one, other, server] = puppets as [Puppet, Puppet, Puppet];
    one.tasks = [{ ...TASK, beganAt: 0 }];
    supervisor.drain();
    await settled();
    await other.end(CLEAN);
    await pass(60_000); // longer than a stop may take, and shorter than its task does
    expect(puppets.map(({ asked }) => asked)).toEqual([["retire", "kill"], ["retire"], []]);
    await one.end(KILLED);
    expect(server.asked).toEqual(["stop"]);
    await server.end(CLEAN);

    await supervisor.ended;
    expect(puppets).toHaveLength(3);
  });

  it("starts the server first, and workers once they are led; none where that is stopped before", async () => {
    const leader = deferred();
    await begin(2, 1, leader.promise);
    expect(puppets).toHaveLength(1);
    leader.resolve();
    await settled();
    expect(puppets).toHaveLength(3);

    await begin(2, 1, deferred().promise);
    await last().end({ ...KILLED, failure: { code: "ADDRESS_TAKEN", message: "taken" } });
    await expect(supervisor.ended).rejects.toMatchObject({ code: "ADDRESS_TAKEN" });
    expect(puppets).toHaveLength(4);
  });

  it("kills one that is stuck past the limit, but none for the time that the machine was asleep", async () => {
    await begin(1);
    last().tasks = [{ ...TASK, beganAt: 0 }];
    clock.advance(3_600_000);
    await settled();
    expect(last().asked).toEqual([]);
    await pass(10_000);
    expect(last().asked).toEqual(["kill"]);
  });

  it("kills one that is far past its memory, but not the server, for which workers' limits are not meant", async () => {
    await begin(1, 1);
    for (const puppet of puppets) puppet.rssMb = 201;
    await pass(500);
    expect(puppets.map(({ asked }) => asked)).toEqual([["kill"], []]);
  });

  it("makes a dead letter of the one page that held its process up, and returns the others as they were", async () => {
    await begin(1);
    const [stuck, beside] = [
      { ...TASK, isReading: true, beganAt: 0 },
      { ...TASK, taskId: "2", beganAt: 0 },
    ];
    last().tasks = [beside, stuck];
    await pass(11_000);
    expect(last().asked).toEqual(["kill"]);
    await last().end(KILLED);

    const detail = "it held its process up past the limit of 10s; the process was killed";
    const dead = JSON.stringify({ kind: "dead", because: "time_limit", detail });
    expect(calls).toEqual([`settle 1 ${dead}`, "release 2", "abandon w1", "withdraw w1", "finished j1"]);
    expect(tries).toMatchObject([
      { taskId: "2", fate: "returned", because: "its process was killed" },
      { taskId: "1", fate: "dead", because: "time_limit", detail, run: { worker: "w1", attempt: 1 } },
    ]);
    for (const { run } of tries) expect(run.endedAt - run.leasedAt).toBe(11_000);
  });

  it("says of a page that killed while it ran alone how; of others only a crash is counted", async () => {
    await begin(1);
    last().tasks = [{ ...TASK, isReading: true, beganAt: 0 }];
    await last().end(KILLED);
    expect(calls.splice(0)).toEqual(["abandon w1", "withdraw w1", "wait 1000"]);
    expect(tries).toMatchObject([{ fate: "retry", because: "crashed_worker", detail: "its process died (SIGKILL)" }]);
    await pass(1_000);
    last().tasks = [{ ...TASK, isReading: true, isAlone: true, beganAt: 0 }];
    await last().end({ ...KILLED, signal: "SIGABRT", isOutOfMemory: true });

    expect(calls[0]).toMatch(/^settle 1 .*"crashed_worker".*ran out of memory, for the third time"/);
  });

  it("ends all when one says that nobody can work here, with what it says", async () => {
    await begin(2);
    const failure = { code: "BROKER_UNREACHABLE", message: "it is gone" } as const;
    await puppets[0]?.end({ ...KILLED, code: 3, signal: null, failure });
    expect(puppets.map(({ asked }) => asked)).toEqual([["stop"], ["stop"]]);
    await puppets[1]?.end(KILLED);

    await expect(supervisor.ended).rejects.toMatchObject(failure);
    expect([puppets.length, calls]).toEqual([2, []]); // who is gone cannot be told anything
  });

  it("does not wait longer than the grace period for one that is stuck when all are to stop", async () => {
    await begin(1);
    last().tasks = [{ ...TASK, beganAt: 0 }];
    await pass(6_000);
    void supervisor.stop();
    await pass(1_500);
    expect(last().asked).toEqual(["stop", "kill"]);
  });

  it("asks all to stop, kills who does not in time, and starts no more", async () => {
    await begin(2);
    const stopped = supervisor.stop();
    expect(puppets.map(({ asked }) => asked)).toEqual([["stop"], ["stop"]]);
    await puppets[0]?.end(CLEAN);
    await pass(9_000);
    expect(puppets.map(({ asked }) => asked)).toEqual([["stop"], ["stop", "kill"]]);
    await puppets[1]?.end(KILLED);
    await stopped;
    expect([puppets.length, calls]).toEqual([2, ["abandon w2", "withdraw w2"]]);
  });
});

function puppet(startedAt: number, puppets: Puppet[]): PoolChild {
  let [finish, leave] = [(_exit: ChildExit) => {}, () => {}];
  const ended = new Promise<ChildExit>((resolve) => {
    finish = resolve;
  });
  const retiring = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const pid = puppets.length + 1;
  const made: Puppet = {
    ...{
      pid,
      worker: `w${pid}`,
      startedAt,
      heardAt: startedAt,
      rssMb: 1,
      metrics: undefined,
      tasksEnded: 0,
      isDrained: false,
    },
    ...{ tally: { tasks: 0, pages: 0, records: 0 }, tasks: [], asked: [], retiring, ended },
    underWay: () => made.tasks,
    stop: () => void made.asked.push("stop"),
    kill: () => void made.asked.push("kill"),
    end: (exit) => settled(() => finish(exit)),
    retire() {
      made.asked.push("retire");
      return settled(leave);
    },
  };
  puppets.push(made);
  return made;
}

async function settled(after: () => void = () => {}): Promise<void> {
  after();
  for (let turn = 0; turn < 3; turn++) await setImmediate();
}
