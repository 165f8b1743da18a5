import { expect, it } from "vitest";
import { expose } from "../../runtime/metrics.ts";
import { POOL_METRICS } from "../observe/worker-metrics.ts";
import { createPoolMeter } from "./pool-meter.ts";

it("counts worker processes but not the server, and passes on the events of both", () => {
  const meter = createPoolMeter({ maxMemoryMb: 1, isWorking: ({ group }) => group !== "server" });
  const passedOn: number[] = [];
  const events = meter.count({
    started: ({ pid }) => void passedOn.push(pid),
    ended: ({ pid }) => void passedOn.push(-pid),
  });
  const exit = { code: 0, signal: null, isClean: true, isOutOfMemory: false, failure: undefined, problem: undefined };
  const places = ["fetch", "server"].map((group, at) => ({ nth: 1, group, pid: at + 1 }));
  for (const place of places) {
    events.started(place);
    events.ended({ ...place, exit, killed: undefined, underWay: [], returned: 0 });
  }

  const text = expose(POOL_METRICS, meter.snapshot(places));
  expect(passedOn).toEqual([1, -1, 2, -2]);
  expect(text).toMatch(/^trawl_worker_processes 1$/m);
  expect(text).toMatch(/^trawl_worker_process_starts_total 1$/m);
  expect(text).toMatch(/^trawl_worker_process_ends_total\{how="ended"\} 1$/m);
});
