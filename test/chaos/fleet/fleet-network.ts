/**
 * The network of a fleet: loopback, or simulated machines for the workers. A machine is a network namespace with its
 * own host name. Virtual interfaces and a bridge connect the machines. The namespaces have no names, so the kernel
 * removes them when their last process ends, and no cleanup is needed.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { networkInterfaces } from "node:os";

export type FleetNetwork = {
  /** The first two numbers of the addresses of all sites: `127.77`. */
  sitePrefix: string;
  /** The address at which workers reach this process. */
  host: string;
  /**
   * Wraps the command of worker number `slot`. The process id stays the same; the worker is killed when this process
   * ends.
   */
  wrap(slot: number, command: readonly string[]): string[];
  close(): void;
};

const HOST = "10.77.0.1";
const SITE_PREFIX = "10.78";
/** Part of Debian. Without this program, workers may outlive a test process that was killed. */
const SETPRIV = "/usr/bin/setpriv";

export const LOOPBACK: FleetNetwork = {
  sitePrefix: "127.77",
  host: "127.0.0.1",
  wrap: (_slot, command) => [...diesWithParent(), ...command],
  close: () => {},
};

/** The prefix of a command that the kernel kills when its parent dies. */
function diesWithParent(): string[] {
  return existsSync(SETPRIV) ? [SETPRIV, "--pdeathsig", "KILL"] : [];
}

/** Why machines cannot be created here; undefined if they can. */
export function findMachinesObstacle(): string | undefined {
  if (process.platform !== "linux") return "network namespaces need Linux";
  if (process.getuid?.() !== 0) return "only root can create network namespaces";
  const missing = ["ip", "unshare", "nsenter"].filter((name) => spawnSync(name, ["--help"]).error !== undefined);
  if (missing.length > 0) return `${missing.join(", ")} cannot be run (Debian: iproute2, util-linux)`;
  const { status } = spawnSync("unshare", ["--net", "--uts", "ip", "link", "add", "br0", "type", "bridge"]);
  return status === 0 ? undefined : "the kernel does not allow network namespaces or bridges";
}

/**
 * Wraps a command to run in a new, isolated network namespace. Only a process in such a namespace may call
 * `openMachines`.
 */
export function inOwnNetwork(command: readonly string[]): string[] {
  return [...diesWithParent(), "unshare", "--net", ...command];
}

/**
 * Creates `count` machines; worker number n runs on machine n modulo `count`. Throws outside of an isolated namespace.
 */
export async function openMachines(count: number): Promise<FleetNetwork> {
  const others = Object.keys(networkInterfaces()).filter((name) => name !== "lo");
  if (others.length > 0) throw new Error(`this is a real network (${others.join(", ")}), which must not be changed`);
  ip("link set lo up");
  ip("link add br0 type bridge");
  ip(`addr add ${HOST}/24 dev br0`);
  ip("link set br0 up");
  // One route makes all site addresses local.
  ip(`route add local ${SITE_PREFIX}.0.0/16 dev lo`);
  const machines = await Promise.all(Array.from({ length: count }, (_, index) => startMachine(index)));
  return {
    sitePrefix: SITE_PREFIX,
    host: HOST,
    wrap: (slot, command) => [...diesWithParent(), ...enter(machines[slot % count]), ...command],
    close: () => {
      for (const { stdin } of machines) stdin?.end();
    },
  };
}

/** Starts the process that keeps a machine alive. The process ends when its stdin is closed. */
async function startMachine(index: number): Promise<ChildProcess> {
  const name = `machine-${index + 1}`;
  const script = `hostname ${name} && ip link set lo up && echo ready && exec cat`;
  const holder = spawn("unshare", ["--net", "--uts", "sh", "-c", script], { stdio: ["pipe", "pipe", "inherit"] });
  const first = await Promise.race([once(holder.stdout, "data"), once(holder, "exit").then(() => undefined)]);
  if (first === undefined) throw new Error(`${name} could not be created`);
  ip(`link add cable${index} type veth peer name eth0 netns ${holder.pid}`);
  ip(`link set cable${index} master br0 up`);
  const inside = (args: string) => run([...enter(holder), "ip", ...args.split(" ")]);
  inside(`addr add ${addressOf(index)}/24 dev eth0`);
  inside("link set eth0 up");
  inside(`route add ${SITE_PREFIX}.0.0/16 via ${HOST}`);
  return holder;
}

/** The source address of requests from machine number `machine`. */
export function addressOf(machine: number): string {
  return `10.77.0.${11 + machine}`;
}

function enter(holder: ChildProcess | undefined): string[] {
  const folder = `/proc/${holder?.pid}/ns`;
  return ["nsenter", `--net=${folder}/net`, `--uts=${folder}/uts`];
}

function ip(args: string): void {
  run(["ip", ...args.split(" ")]);
}

function run([command = "", ...args]: readonly string[]): void {
  const { status, stderr } = spawnSync(command, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${stderr}`);
}
