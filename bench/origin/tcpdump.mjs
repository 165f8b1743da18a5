/**
 * Captures the requests to the origin with tcpdump. The kernel's timestamps do not depend on the load of the origin.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { guard } from "../harness/guard.mjs";
import { ensureProgram } from "../programs/debian.mjs";
import { parseDropped, parsePackets } from "./packets.mjs";

const KEPT_BYTES = 96;
const BUFFER_KB = 32_768;
const READ_BYTES = 512 * 1024 * 1024;
/** The kernel passes packets to tcpdump in blocks, after one second at the latest. */
const LAST_PACKETS_MS = 1_500;
const NANOSECONDS = "--time-stamp-precision=nano";

/** Returns undefined, or why packets cannot be captured here. */
export function findPacketObstacle() {
  try {
    const { command, env } = ensureProgram("tcpdump");
    // A capture that is not allowed fails at once. A capture that works ends at its first packet or at the timeout.
    const args = ["-i", "lo", "-c", "1", "-w", "/dev/null", ...asRoot(), "tcp"];
    const { status, stderr, error } = spawnSync(command, args, {
      env: { ...process.env, ...env },
      encoding: "utf8",
      timeout: 500,
    });
    if (status === 0 || error?.code === "ETIMEDOUT") return undefined;
    return `tcpdump cannot capture: ${(stderr || String(error)).trim().split("\n").at(-1)}`;
  } catch (cause) {
    return cause.message;
  }
}

/** Starts a capture. `stop` resolves with the requests, and with the number of packets that were lost. */
export async function startCapture({ port, folder }) {
  const { command, env } = ensureProgram("tcpdump");
  const file = join(folder, "requests.pcap");
  const filter = `tcp dst port ${port} and tcp[tcpflags] & tcp-push != 0`;
  const options = ["-i", "lo", "-n", NANOSECONDS, "-s", String(KEPT_BYTES), "-B", String(BUFFER_KB), ...asRoot()];
  const whole = { ...process.env, ...env };
  const child = spawn(command, [...options, "-U", "-w", file, filter], {
    env: whole,
    stdio: ["ignore", "ignore", "pipe"],
  });
  guard(child, file);
  let stderr = "";
  child.stderr.setEncoding("utf8");
  const ended = once(child, "close");
  await new Promise((resolve, reject) => {
    child.stderr.on("data", (text) => {
      stderr += text;
      if (stderr.includes("listening on")) resolve();
    });
    child.once("close", () => reject(new Error(`tcpdump ended: ${stderr}`)));
  });

  return {
    async stop() {
      await sleep(LAST_PACKETS_MS);
      child.kill("SIGINT");
      await ended;
      const read = spawnSync(command, ["-r", file, "-tt", "-n", "-q", NANOSECONDS, ...asRoot()], {
        env: whole,
        encoding: "utf8",
        maxBuffer: READ_BYTES,
      });
      rmSync(file, { force: true });
      if (read.status !== 0) throw new Error(`tcpdump could not read its capture: ${read.stderr}`);
      const baseS = Number(/^\d+/.exec(read.stdout)?.[0] ?? 0);
      return { requests: parsePackets(read.stdout, baseS), dropped: parseDropped(stderr) };
    },
  };
}

/** As root, tcpdump changes to the user `tcpdump`, which a system without the package does not have. */
function asRoot() {
  return process.getuid?.() === 0 ? ["-Z", "root"] : [];
}
