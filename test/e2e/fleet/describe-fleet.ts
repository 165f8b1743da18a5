/**
 * A fleet: submitters, workers and a doctor on one broker. Tests that depend on the broker run on every backend, the others
 * on one.
 */
import { describe } from "vitest";
import { examining, losingSpiders } from "./examining.ts";
import type { FleetBroker } from "./fleet.ts";
import { parsing, passingOn } from "./parsing.ts";
import { poison } from "./poison.ts";
import { routing, routingWords } from "./routing.ts";
import { crowding, submitting } from "./submitting.ts";
import { draining, grace, stopping, workers } from "./workers.ts";

export function describeFleet(name: string, broker: FleetBroker): void {
  describe(`a fleet on ${name}`, () => {
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
  describe("the messages of a fleet", () => {
    grace(broker);
    submitting(broker);
    routingWords(broker);
    passingOn(broker);
    losingSpiders(broker);
  });
}
