/**
 * A fleet as its operator has it: submitters, workers and a doctor on one broker. What the broker has a part in is tried on
 * every backend; what commands and workers settle among themselves, on one.
 */
import { beforeAll, describe } from "vitest";
import { ensureDist } from "../dist.ts";
import { examining, losingSpiders } from "./examining.ts";
import type { FleetBroker } from "./fleet.ts";
import { parsing, passingOn } from "./parsing.ts";
import { poison } from "./poison.ts";
import { routing, routingWords } from "./routing.ts";
import { crowding, submitting } from "./submitting.ts";
import { draining, grace, stopping, workers } from "./workers.ts";

export function describeFleet(name: string, broker: FleetBroker): void {
  describe(`a fleet on ${name}`, () => {
    beforeAll(ensureDist);
    workers(broker);
    stopping(broker);
    draining(broker);
    poison(broker);
    crowding(broker);
    routing(broker);
    parsing(broker);
    examining(broker);
  });
}

export function describeFleetWords(broker: FleetBroker): void {
  describe("what a fleet is told", () => {
    beforeAll(ensureDist);
    grace(broker);
    submitting(broker);
    routingWords(broker);
    passingOn(broker);
    losingSpiders(broker);
  });
}
