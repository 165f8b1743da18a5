/** What a measurement was made on. */
import { availableParallelism, cpus, loadavg } from "node:os";

const QUIET_LOAD = 0.5;

export function describeMachine() {
  return { cpu: cpus()[0].model, cores: availableParallelism(), node: process.versions.node, load: loadavg()[0] };
}

/** Prints it, and `whenBusy` where others are at work. */
export function sayMachine(whenBusy) {
  const { cpu, cores, node, load } = describeMachine();
  console.log(`${cpu}, ${cores} cores, Node ${node}, load ${load.toFixed(2)}`);
  if (load > QUIET_LOAD) console.log(`note: this machine is not idle; ${whenBusy}`);
}
