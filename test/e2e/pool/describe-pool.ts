/**
 * A worker with processes of its own, as its operator has it. What is granted, handed back and counted goes by the broker,
 * and is tried on every backend; what processes do to each other is the same on all, and is tried on one.
 */
import { beforeAll, describe } from "vitest";
import { ensureDist } from "../dist.ts";
import type { FleetBroker } from "../fleet/fleet.ts";
import { crawling } from "./crawling.ts";
import { leaving, ordering } from "./ordering.ts";
import { lateness, poison } from "./poison.ts";
import { growth, recycling } from "./recycling.ts";
import { stopping, stubbornness } from "./stopping.ts";
import { strays } from "./strays.ts";
import { up, upServer } from "./up.ts";

export function describePool(name: string, broker: FleetBroker): void {
  describe(`a pool of worker processes on ${name}`, () => {
    beforeAll(ensureDist);
    poison(broker);
    stopping(broker);
    recycling(broker);
    ordering(broker);
    up(broker);
  });
}

export function describePoolProcesses(broker: FleetBroker): void {
  describe("the processes of a pool", () => {
    beforeAll(ensureDist);
    lateness(broker);
    leaving(broker);
    stubbornness(broker);
    growth(broker);
    strays(broker);
    crawling(broker);
    upServer(broker);
  });
}
