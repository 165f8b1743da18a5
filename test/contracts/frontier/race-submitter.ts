/**
 * One process of a race to create the broker: opens it, creates the job and submits all its URLs. races.test.ts starts
 * it with the argument `broker`. It prints the answer of `enqueue`.
 */
import { systemClock } from "../../../src/runtime/clock.ts";
import { aJob, tasksAt } from "./makers.ts";
import { openRaceBroker } from "./race-broker.ts";

const [address = ""] = process.argv.slice(2);
const frontier = await openRaceBroker(address, systemClock());
await frontier.createJob(aJob({ id: "race" }));
console.log(JSON.stringify(await frontier.enqueue("race", tasksAt("a.test", 1200))));
await frontier.close();
