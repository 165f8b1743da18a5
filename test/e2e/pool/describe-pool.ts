/**
 * Tests a worker with child processes. Tests that depend on the broker (grants, returned tasks, counts) run on every
 * backend; tests of the processes run on one backend.
 */
import { describe } from "vitest";
import type { FleetBroker } from "../fleet/fleet.ts";
import { crawling } from "./crawling.ts";
import { handlerErrors } from "./handler-errors.ts";
import { drainingSolo, operatorCommands } from "./operator-commands.ts";
import { poison, timeLimits } from "./poison.ts";
import { memoryLimits, recycling } from "./recycling.ts";
import { blockedProcesses, stopping } from "./stopping.ts";
import { up, upServer } from "./up.ts";

export function describePool(name: string, broker: FleetBroker): void {
  describe(`a pool of worker processes on ${name}`, () => {
    poison(broker);
    stopping(broker);
    recycling(broker);
    operatorCommands(broker);
    up(broker);
  });
}

export function describePoolProcesses(broker: FleetBroker): void {
  describe("the processes of a pool", () => {
    timeLimits(broker);
    drainingSolo(broker);
    blockedProcesses(broker);
    memoryLimits(broker);
    handlerErrors(broker);
    crawling(broker);
    upServer(broker);
  });
}
