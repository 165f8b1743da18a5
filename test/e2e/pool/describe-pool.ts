/** A worker with processes of its own, as its operator has it. Whatever backend the broker is on, these hold. */
import { beforeAll, describe } from "vitest";
import { ensureDist } from "../dist.ts";
import type { FleetBroker } from "../fleet/fleet.ts";
import { crawling } from "./crawling.ts";
import { lateness, poison } from "./poison.ts";
import { recycling } from "./recycling.ts";
import { stopping } from "./stopping.ts";
import { strays } from "./strays.ts";
import { up } from "./up.ts";

export function describePool(name: string, broker: FleetBroker): void {
  describe(`a pool of worker processes on ${name}`, () => {
    beforeAll(ensureDist);
    poison(broker);
    lateness(broker);
    stopping(broker);
    recycling(broker);
    strays(broker);
    up(broker);
    crawling(broker);
  });
}
