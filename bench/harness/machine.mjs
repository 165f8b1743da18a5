/** Describes the machine of a measurement. */
import { spawnSync } from "node:child_process";
import { availableParallelism, cpus, loadavg, release, totalmem, type } from "node:os";
import { ROOT } from "./folders.mjs";

const QUIET_LOAD = 0.5;

export function describeMachine() {
  return {
    cpu: cpus()[0].model,
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 1e9),
    kernel: `${type()} ${release()}`,
    node: process.versions.node,
    load: loadavg()[0],
    commit: findCommit(),
  };
}

/** Prints the description, and the note `whenBusy` if the machine is not idle. */
export function printMachine(whenBusy) {
  const { cpu, cores, node, load } = describeMachine();
  console.log(`${cpu}, ${cores} cores, Node ${node}, load ${load.toFixed(2)}`);
  if (load > QUIET_LOAD) console.log(`note: this machine is not idle; ${whenBusy}`);
}

/** Undefined outside of a clone. */
function findCommit() {
  const { status, stdout } = spawnSync("git", ["rev-parse", "--short", "HEAD"], { cwd: ROOT, encoding: "utf8" });
  return status === 0 ? stdout.trim() : undefined;
}
