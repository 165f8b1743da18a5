/** Describes the machine of a measurement. */
import { availableParallelism, cpus, loadavg } from "node:os";

const QUIET_LOAD = 0.5;

export function describeMachine() {
  return { cpu: cpus()[0].model, cores: availableParallelism(), node: process.versions.node, load: loadavg()[0] };
}

/** Prints the description, and the note `whenBusy` if the machine is not idle. */
export function printMachine(whenBusy) {
  const { cpu, cores, node, load } = describeMachine();
  console.log(`${cpu}, ${cores} cores, Node ${node}, load ${load.toFixed(2)}`);
  if (load > QUIET_LOAD) console.log(`note: this machine is not idle; ${whenBusy}`);
}
