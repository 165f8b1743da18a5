/**
 * Where a fleet runs: on loopback, or with its workers on separate machines. Such a machine is a network namespace with its
 * own host name, connected to the others by virtual interfaces and a bridge. The namespaces have no names, so the kernel
 * removes them when their last process ends, and there is nothing to clean up.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { networkInterfaces } from "node:os";

export type Ground = {
  /** The first two numbers of the addresses of sites. */
  sitesAt: string;
  /** The address of this process for workers. */
  host: string;
  /** Wraps a command to run as worker number `slot`, with the same process id, until this process ends. */
  wrap(slot: number, command: readonly string[]): string[];
  close(): void;
};

const HERE = "10.77.0.1";
const SITES_AT = "10.78";
/** Part of Debian. Without it, workers may outlive a test process that was killed. */
const SETPRIV = "/usr/bin/setpriv";

export const LOOPBACK: Ground = {
  sitesAt: "127.77",
  host: "127.0.0.1",
  wrap: (_slot, command) => [...mortal(), ...command],
  close: () => {},
};

/** The kernel kills a worker whose parent has died. */
function mortal(): string[] {
  return existsSync(SETPRIV) ? [SETPRIV, "--pdeathsig", "KILL"] : [];
}

/** Why machines cannot be created here; undefined if they can. */
export function findMachinesObstacle(): string | undefined {
  if (process.platform !== "linux") return "network namespaces need Linux";
  if (process.getuid?.() !== 0) return "only root can create network namespaces";
  const lacks = ["ip", "unshare", "nsenter"].filter((name) => spawnSync(name, ["--help"]).error !== undefined);
  if (lacks.length > 0) return `${lacks.join(", ")} cannot be run (Debian: iproute2, util-linux)`;
  const { status } = spawnSync("unshare", ["--net", "--uts", "ip", "link", "add", "br0", "type", "bridge"]);
  return status === 0 ? undefined : "the kernel does not allow network namespaces or bridges";
}

/** Wraps a command to run in a new network namespace without a connection to the outside, where `openMachines` may be called. */
export function aloneOnItsNetwork(command: readonly string[]): string[] {
  return [...mortal(), "unshare", "--net", ...command];
}

/** Worker number n runs on machine n modulo `count`. Only for a process in its own network namespace. */
export async function openMachines(count: number): Promise<Ground> {
  const others = Object.keys(networkInterfaces()).filter((name) => name !== "lo");
  if (others.length > 0) throw new Error(`this is a real network (${others.join(", ")}); it is not changed`);
  ip("link set lo up");
  ip("link add br0 type bridge");
  ip(`addr add ${HERE}/24 dev br0`);
  ip("link set br0 up");
  // All addresses of the sites are local, without configuring each.
  ip(`route add local ${SITES_AT}.0.0/16 dev lo`);
  const machines = await Promise.all(Array.from({ length: count }, (_, index) => startMachine(index)));
  return {
    sitesAt: SITES_AT,
    host: HERE,
    wrap: (slot, command) => [...mortal(), ...entering(machines[slot % count]), ...command],
    close: () => {
      for (const { stdin } of machines) stdin?.end();
    },
  };
}

/** A machine exists as long as the process that holds it, which ends when its stdin is closed. */
async function startMachine(index: number): Promise<ChildProcess> {
  const name = `machine-${index + 1}`;
  const script = `hostname ${name} && ip link set lo up && echo ready && exec cat`;
  const holder = spawn("unshare", ["--net", "--uts", "sh", "-c", script], { stdio: ["pipe", "pipe", "inherit"] });
  const first = await Promise.race([once(holder.stdout, "data"), once(holder, "exit").then(() => undefined)]);
  if (first === undefined) throw new Error(`${name} could not be created`);
  ip(`link add cable${index} type veth peer name eth0 netns ${holder.pid}`);
  ip(`link set cable${index} master br0 up`);
  const inside = (words: string) => run([...entering(holder), "ip", ...words.split(" ")]);
  inside(`addr add ${addressOf(index)}/24 dev eth0`);
  inside("link set eth0 up");
  inside(`route add ${SITES_AT}.0.0/16 via ${HERE}`);
  return holder;
}

/** The source address of requests from this machine. */
export function addressOf(machine: number): string {
  return `10.77.0.${11 + machine}`;
}

function entering(holder: ChildProcess | undefined): string[] {
  const space = `/proc/${holder?.pid}/ns`;
  return ["nsenter", `--net=${space}/net`, `--uts=${space}/uts`];
}

function ip(words: string): void {
  run(["ip", ...words.split(" ")]);
}

function run([command = "", ...words]: readonly string[]): void {
  const { status, stderr } = spawnSync(command, words, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${words.join(" ")}: ${stderr}`);
}
