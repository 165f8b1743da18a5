/**
 * A worker with child processes. Tests of grants, returns and counts depend on the broker and run on every backend; tests of
 * the processes run on one.
 */
import { describe } from "vitest";
import type { FleetBroker } from "../fleet/fleet.ts";
import { crawling } from "./crawling.ts";
import { handlerErrors } from "./handler-errors.ts";
import { leaving, ordering } from "./ordering.ts";
import { lateness, poison } from "./poison.ts";
import { growth, recycling } from "./recycling.ts";
import { stopping, stubbornness } from "./stopping.ts";
import { up, upServer } from "./up.ts";

export function describePool(name: string, broker: FleetBroker): void {
  describe(`a pool of worker processes on ${name}`, () => {
    poison(broker);
    stopping(broker);
    recycling(broker);
    ordering(broker);
    up(broker);
  });
}

export function describePoolProcesses(broker: FleetBroker): void {
  describe("the processes of a pool", () => {
    lateness(broker);
    leaving(broker);
    stubbornness(broker);
    growth(broker);
    handlerErrors(broker);
    crawling(broker);
    upServer(broker);
  });
}
