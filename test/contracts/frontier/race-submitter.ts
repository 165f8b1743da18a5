/**
 * One process of a race to be first: opens a broker file that may not be there yet, makes the job and submits all its
 * URLs. Started by races.test.ts with `broker file`; prints the answer of `enqueue`.
 */
import { openSqliteFrontier } from "../../../src/frontier/sqlite/open.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import { aJob, tasksAt } from "./makers.ts";

const [path = ""] = process.argv.slice(2);
const frontier = openSqliteFrontier(path, { clock: systemClock() }, { maxPending: 1e6, busyMs: 30_000, pollMs: 20 });
await frontier.createJob(aJob({ id: "race" }));
console.log(JSON.stringify(await frontier.enqueue("race", tasksAt("a.test", 1200))));
await frontier.close();
