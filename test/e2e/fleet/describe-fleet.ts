/**
 * Tests a fleet: submitters, workers and `trawl doctor` on one broker. Tests that depend on the broker run on every
 * backend, the other tests on one backend.
 */
import { describe } from "vitest";
import { examining, missingSpiders } from "./examining.ts";
import type { FleetBroker } from "./fleet.ts";
import { parsing, passingPages } from "./parsing.ts";
import { poison } from "./poison.ts";
import { routing, routingMessages } from "./routing.ts";
import { fullBroker, submitting } from "./submitting.ts";
import { draining, grace, stopping, workers } from "./workers.ts";

export function describeFleet(name: string, broker: FleetBroker): void {
  describe(`a fleet on ${name}`, () => {
    workers(broker);
    stopping(broker);
    draining(broker);
    poison(broker);
    fullBroker(broker);
    routing(broker);
    parsing(broker);
    examining(broker);
  });
}

export function describeFleetMessages(broker: FleetBroker): void {
  describe("the messages of a fleet", () => {
    grace(broker);
    submitting(broker);
    routingMessages(broker);
    passingPages(broker);
    missingSpiders(broker);
  });
}
