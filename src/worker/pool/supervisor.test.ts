import { setImmediate } from "node:timers/promises";
import { beforeEach, describe, expect, it } from "vitest";
import { createManualClock, type ManualClock } from "../../../test/model/manual-clock.ts";
import type { Claim, Settlement } from "../../frontier/frontier.ts";
import { deferred } from "../../runtime/deferred.ts";
import { createLog } from "../../runtime/log.ts";
import type { AttemptWrite } from "../../store/store.ts";
import type { ChildExit, HeldTask, PoolChild } from "./child-process.ts";
import { createSupervisor, type Place, type Supervisor } from "./supervisor.ts";

const KILLED: ChildExit = {
  ...{ code: null, signal: "SIGKILL", isClean: false, isOutOfMemory: false },
  ...{ failure: undefined, problem: undefined },
};
const CLEAN: ChildExit = { ...KILLED, code: 0, signal: null, isClean: true };
const TASK: Omit<HeldTask, "beganAt"> = {
  ...{ jobId: "job", taskId: "1", token: 1, url: "https://a.test/", attempt: 1, isAlone: false, isReading: false },
  step: "fetch",
};

/** A process that the test controls. The tests in test/e2e/pool use real processes. */
type FakeChild = PoolChild & {
  tasksEnded: number;
  lastMessageAt: number;
  rssMb: number;
  isDrained: boolean;
  tasks: HeldTask[];
  received: string[];
  end(exit: ChildExit): Promise<void>;
  retire(): Promise<void>;
};

describe("a supervisor", () => {
  let clock: ManualClock;
  let children: FakeChild[];
  let tries: AttemptWrite[];
  let calls: string[];
  let supervisor: Supervisor;

  beforeEach(() => {
    clock = createManualClock(1_750_000_000_000);
    children = [];
    tries = [];
    calls = [];
  });

  async function begin(processes: number, servers = 0, startAfter?: Promise<void>): Promise<void> {
    const frontier = {
      settle: async (settlements: readonly Settlement[]) => {
        for (const { taskId, outcome } of settlements) calls.push(`settle ${taskId} ${JSON.stringify(outcome)}`);
        return { states: [], finished: ["j1"] };
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
    const storeAttempts = async (attempts: readonly AttemptWrite[]) => void tries.push(...attempts);
    const startChild = (_place: Place, now: () => number) => fakeChild(now(), children);
    const limits = { timeLimitMs: 10_000, maxMemoryMb: 100, stuckMs: 40_000 };
    const placesOf = (length: number, group: string | undefined) =>
      Array.from({ length }, (_, index) => ({ nth: index + 1, group }));
    const places = [...placesOf(processes, undefined), ...placesOf(servers, "server")];
    const stopLast = new Set(["server"]);
    const options = { ...limits, places, graceMs: 1_000, stopLast, ...(startAfter && { startAfter }) };
    const findRssMb = (pid: number) => children[pid - 1]?.rssMb;
    supervisor = createSupervisor({ frontier, startChild, findRssMb, storeAttempts, events, clock, log }, options);
    supervisor.start();
    await settled();
  }

  /** Advances the clock in steps that are short enough for its checks. */
  async function pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 500) {
      clock.advance(500);
      await settled();
    }
  }

  function last(): FakeChild {
    const [child] = children.slice(-1);
    if (child === undefined) throw new Error("nothing was started");
    return child;
  }

  it("delays the successor of a process that fails at start, and doubles the delay until one does useful work", async () => {
    await begin(1);
    await last().end(KILLED);
    expect([children.length, calls]).toEqual([1, ["abandon w1", "withdraw w1", "wait 1000"]]);
    await pass(1_000);
    expect(children).toHaveLength(2);
    await last().end(KILLED);
    await pass(1_500);
    expect(children).toHaveLength(2);
    await pass(500);
    expect(children).toHaveLength(3);

    last().tasksEnded = 1;
    await last().end(KILLED);
    expect(children).toHaveLength(4);
    await last().end(KILLED);
    expect(calls.filter((call) => call.startsWith("wait"))).toEqual(["wait 1000", "wait 2000", "wait 1000"]);
  });

  it("doubles the delay while something is unavailable to processes, even if they did useful work", async () => {
    await begin(1);
    const problem = { code: "BROWSER_UNAVAILABLE", message: "it did not start" } as const;
    for (const delayMs of [1_000, 2_000, 4_000]) {
      await pass(15_000);
      last().tasksEnded = 7;
      await last().end({ ...KILLED, code: 3, signal: null, problem });
      expect(calls.splice(0).slice(-1)).toEqual([`wait ${delayMs}`]);
    }
    await pass(4_000);
    last().tasksEnded = 7;
    await last().end(CLEAN);
    expect([children.length, calls]).toEqual([5, []]);
  });

  it("starts the next process before a retiring one has ended, and waits for both", async () => {
    await begin(1);
    last().tasks = [{ ...TASK, beganAt: 0 }];
    await last().retire();
    expect(children).toHaveLength(2);
    last().isDrained = true;
    await last().end(CLEAN);

    let isOver = false;
    void supervisor.ended.then(() => {
      isOver = true;
    });
    await settled();
    expect(isOver).toBe(false);
    await children[0]?.end(CLEAN);
    await supervisor.ended;
    expect(calls).toEqual([]); // a regular end leaves no tasks
  });

  it("runs at most one retired process per place at the same time as its replacement", async () => {
    await begin(1);
    for (const nth of [1, 2]) {
      last().tasks = [{ ...TASK, beganAt: 0 }];
      await last().retire();
      expect(children, `after ${nth}`).toHaveLength(2);
    }
    await children[0]?.end(CLEAN);
    expect(children).toHaveLength(3);
  });

  it("drains: processes end their tasks and are not replaced; the server is stopped last", async () => {
    await begin(2, 1);
    const [one, other, server] = children as [FakeChild, FakeChild, FakeChild];
    one.tasks = [{ ...TASK, beganAt: 0 }];
    supervisor.drain();
    await settled();
    await other.end(CLEAN);
    await pass(60_000); // longer than a stop may take, shorter than the task takes
    expect(children.map(({ received }) => received)).toEqual([["retire", "kill"], ["retire"], []]);
    await one.end(KILLED);
    expect(server.received).toEqual(["stop"]);
    await server.end(CLEAN);

    await supervisor.ended;
    expect(children).toHaveLength(3);
  });

  it("starts the server first, then the workers, and starts no worker if the server cannot run", async () => {
    const leader = deferred();
    await begin(2, 1, leader.promise);
    expect(children).toHaveLength(1);
    leader.resolve();
    await settled();
    expect(children).toHaveLength(3);

    await begin(2, 1, deferred().promise);
    await last().end({ ...KILLED, failure: { code: "ADDRESS_TAKEN", message: "taken" } });
    await expect(supervisor.ended).rejects.toMatchObject({ code: "ADDRESS_TAKEN" });
    expect(children).toHaveLength(4);
  });

  it("kills a process that is stuck past the limit; time in which the machine slept does not count", async () => {
    await begin(1);
    last().tasks = [{ ...TASK, beganAt: 0 }];
    clock.advance(3_600_000);
    await settled();
    expect(last().received).toEqual([]);
    await pass(10_000);
    expect(last().received).toEqual(["kill"]);
  });

  it("kills a process far above its memory limit, but not the server, which has none", async () => {
    await begin(1, 1);
    for (const child of children) child.rssMb = 201;
    await pass(500);
    expect(children.map(({ received }) => received)).toEqual([["kill"], []]);
  });

  it("writes a dead letter for the page that blocked its process, and returns the other tasks", async () => {
    await begin(1);
    const [stuck, other] = [
      { ...TASK, isReading: true, beganAt: 0 },
      { ...TASK, taskId: "2", beganAt: 0 },
    ];
    last().tasks = [other, stuck];
    await pass(11_000);
    expect(last().received).toEqual(["kill"]);
    await last().end(KILLED);

    const detail = "it blocked its process past the limit of 10s; the process was killed";
    const dead = JSON.stringify({ kind: "dead", because: "time_limit", detail });
    expect(calls).toEqual([`settle 1 ${dead}`, "release 2", "abandon w1", "withdraw w1", "finished j1"]);
    expect(tries).toMatchObject([
      { taskId: "2", outcome: "returned", because: "its process was killed" },
      { taskId: "1", outcome: "dead", because: "time_limit", detail, run: { worker: "w1", attempt: 1 } },
    ]);
    for (const { run } of tries) expect(run.endedAt - run.leasedAt).toBe(11_000);
  });

  it("records how a suspect killed its process; for other tasks only a crash is counted", async () => {
    await begin(1);
    last().tasks = [{ ...TASK, isReading: true, beganAt: 0 }];
    await last().end(KILLED);
    expect(calls.splice(0)).toEqual(["abandon w1", "withdraw w1", "wait 1000"]);
    expect(tries).toMatchObject([
      { outcome: "retry", because: "crashed_worker", detail: "its process died (SIGKILL)" },
    ]);
    await pass(1_000);
    last().tasks = [{ ...TASK, isReading: true, isAlone: true, beganAt: 0 }];
    await last().end({ ...KILLED, signal: "SIGABRT", isOutOfMemory: true });

    expect(calls[0]).toMatch(/^settle 1 .*"crashed_worker".*ran out of memory, for the third time"/);
  });

  it("ends with the error of a process that reports that no process can work", async () => {
    await begin(2);
    const failure = { code: "BROKER_UNREACHABLE", message: "it is gone" } as const;
    await children[0]?.end({ ...KILLED, code: 3, signal: null, failure });
    expect(children.map(({ received }) => received)).toEqual([["stop"], ["stop"]]);
    await children[1]?.end(KILLED);

    await expect(supervisor.ended).rejects.toMatchObject(failure);
    expect([children.length, calls]).toEqual([2, []]); // no calls to a broker that is lost
  });

  it("waits no longer than the grace period for a stuck process when it stops", async () => {
    await begin(1);
    last().tasks = [{ ...TASK, beganAt: 0 }];
    await pass(6_000);
    void supervisor.stop();
    await pass(1_500);
    expect(last().received).toEqual(["stop", "kill"]);
  });

  it("sends a stop message to all processes, kills those that do not end in time, and starts no more", async () => {
    await begin(2);
    const stopped = supervisor.stop();
    expect(children.map(({ received }) => received)).toEqual([["stop"], ["stop"]]);
    await children[0]?.end(CLEAN);
    await pass(9_000);
    expect(children.map(({ received }) => received)).toEqual([["stop"], ["stop", "kill"]]);
    await children[1]?.end(KILLED);
    await stopped;
    expect([children.length, calls]).toEqual([2, ["abandon w2", "withdraw w2"]]);
  });
});

function fakeChild(startedAt: number, children: FakeChild[]): PoolChild {
  let [finish, leave] = [(_exit: ChildExit) => {}, () => {}];
  const ended = new Promise<ChildExit>((resolve) => {
    finish = resolve;
  });
  const retiring = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const pid = children.length + 1;
  const made: FakeChild = {
    ...{
      pid,
      worker: `w${pid}`,
      startedAt,
      lastMessageAt: startedAt,
      rssMb: 1,
      metrics: undefined,
      tasksEnded: 0,
      isDrained: false,
    },
    ...{ tally: { tasks: 0, pages: 0, records: 0 }, tasks: [], received: [], retiring, ended },
    underWay: () => made.tasks,
    stop: () => void made.received.push("stop"),
    kill: () => void made.received.push("kill"),
    end: (exit) => settled(() => finish(exit)),
    retire() {
      made.received.push("retire");
      return settled(leave);
    },
  };
  children.push(made);
  return made;
}

async function settled(after: () => void = () => {}): Promise<void> {
  after();
  for (let turn = 0; turn < 3; turn++) await setImmediate();
}
