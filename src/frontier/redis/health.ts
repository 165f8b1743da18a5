/** Checks the configuration and state of a Redis broker; `trawl doctor` shows the results. */
import type { Finding } from "../frontier-admin.ts";
import type { Shards } from "./cluster/shards.ts";
import type { BrokerClient } from "./connection/broker-client.ts";
import type { BrokerClock } from "./connection/broker-clock.ts";
import {
  checkClocks,
  checkDatabase,
  checkEviction,
  checkMemory,
  checkPacking,
  checkPermissions,
  checkPersistence,
  checkRole,
  checkVersion,
} from "./health/checks.ts";
import { findDeniedCommands } from "./health/permissions.ts";
import { readServerInfo, type ServerInfo } from "./health/server-info.ts";

type Deps = { broker: Pick<BrokerClient, "read">; shards: Shards; time: Pick<BrokerClock, "aheadMs"> };

const KEYS_PER_SCAN = 1000;
const MAX_SCANS = 5;
const SEVERITY = { ok: 0, warning: 1, problem: 2 };

export function createHealthCheck({ broker, shards, time }: Deps, { prefix }: { prefix: string }) {
  /** Undefined if the user may not read settings, as on managed servers; the finding then reports that. */
  async function setting(name: string): Promise<string | undefined> {
    const pair = await broker.read("CONFIG", "GET", name).catch(() => []);
    return (pair as string[])[1];
  }

  /** Some of the keys in the database; in a cluster, those of one node. Undefined if the user may not list keys. */
  async function someKeys(): Promise<string[] | undefined> {
    const found: string[] = [];
    let cursor = "0";
    try {
      for (let scan = 0; scan < MAX_SCANS; scan++) {
        const [next, keys] = (await broker.read("SCAN", cursor, "COUNT", KEYS_PER_SCAN)) as [string, string[]];
        found.push(...keys);
        cursor = next;
        if (cursor === "0") break;
      }
    } catch {
      return undefined;
    }
    return found;
  }

  return async (): Promise<readonly Finding[]> => {
    // The replies to this call contain the broker's time, so the clocks are compared after it.
    const servers = await readServerInfo(shards);
    const [fsync, intset] = [await setting("appendfsync"), await setting("set-max-intset-entries")];
    return [
      worst(servers, checkVersion),
      worst(servers, checkRole),
      checkPermissions(await findDeniedCommands(shards)),
      worst(servers, (server) => checkPersistence(server, fsync)),
      worst(servers, checkEviction),
      worst(servers, checkMemory),
      checkPacking(intset),
      checkClocks(time.aheadMs()),
      checkDatabase(await someKeys(), prefix),
    ];
  };
}

/** The worst finding of several servers, and how many have the same verdict. */
function worst(servers: readonly ServerInfo[], check: (server: ServerInfo) => Finding): Finding {
  const findings = servers.map(check).sort((one, other) => SEVERITY[other.verdict] - SEVERITY[one.verdict]);
  const [first] = findings;
  if (first === undefined) throw new Error("a broker has at least one server");
  if (servers.length === 1) return first;
  const alike = findings.filter(({ verdict }) => verdict === first.verdict).length;
  return { ...first, message: `${first.message} (${alike} of ${servers.length} servers)` };
}
