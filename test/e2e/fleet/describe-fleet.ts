/**
 * A fleet as its operator has it: submitters, workers and a doctor on one broker. Whatever backend the broker is on, these
 * hold.
 */
import { beforeAll, describe } from "vitest";
import { ensureDist } from "../dist.ts";
import { examining } from "./examining.ts";
import type { FleetBroker } from "./fleet.ts";
import { parsing } from "./parsing.ts";
import { poison } from "./poison.ts";
import { routing } from "./routing.ts";
import { submitting } from "./submitting.ts";
import { draining, stopping, workers } from "./workers.ts";

export function describeFleet(name: string, broker: FleetBroker): void {
  describe(`a fleet on ${name}`, () => {
    beforeAll(ensureDist);
    workers(broker);
    stopping(broker);
    draining(broker);
    poison(broker);
    submitting(broker);
    routing(broker);
    parsing(broker);
    examining(broker);
  });
}
