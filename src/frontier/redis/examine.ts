/** Whether a Redis broker is fit for work: version, durability, eviction, clock, and who else uses the database. */
import type { Finding } from "../frontier-admin.ts";
import type { Broker } from "./broker.ts";
import type { BrokerTime } from "./broker-time.ts";
import {
  checkClocks,
  checkDatabase,
  checkEviction,
  checkMemory,
  checkPacking,
  checkPersistence,
  checkRights,
  checkRole,
  checkVersion,
} from "./findings.ts";
import { findMissingRights } from "./rights.ts";
import { type Facts, readServerFacts } from "./server-facts.ts";
import type { Shards } from "./shards.ts";

type Deps = { broker: Pick<Broker, "ask">; shards: Shards; time: Pick<BrokerTime, "aheadMs"> };

const KEYS_A_LOOK = 1000;
const LOOKS_MOST = 5;
const GRAVITY = { ok: 0, warning: 1, problem: 2 };

export function createExaminer({ broker, shards, time }: Deps, { prefix }: { prefix: string }) {
  /** Undefined where the rights do not allow to look: managed servers forbid it, and the findings say so. */
  async function setting(name: string): Promise<string | undefined> {
    const pair = await broker.ask("CONFIG", "GET", name).catch(() => []);
    return (pair as string[])[1];
  }

  /** Some of the names of keys that are there; of a cluster, those on one of its nodes. */
  async function someKeys(): Promise<string[] | undefined> {
    const found: string[] = [];
    let cursor = "0";
    try {
      for (let look = 0; look < LOOKS_MOST; look++) {
        const [next, keys] = (await broker.ask("SCAN", cursor, "COUNT", KEYS_A_LOOK)) as [string, string[]];
        found.push(...keys);
        cursor = next;
        if (cursor === "0") break;
      }
    } catch {
      return undefined; // as above
    }
    return found;
  }

  return async (): Promise<readonly Finding[]> => {
    // Its answers have the time in them: the clocks have been compared, too.
    const servers = await readServerFacts(shards);
    const [fsync, intset] = [await setting("appendfsync"), await setting("set-max-intset-entries")];
    return [
      worst(servers, checkVersion),
      worst(servers, checkRole),
      checkRights(await findMissingRights(shards)),
      worst(servers, (server) => checkPersistence(server, fsync)),
      worst(servers, checkEviction),
      worst(servers, checkMemory),
      checkPacking(intset),
      checkClocks(time.aheadMs()),
      checkDatabase(await someKeys(), prefix),
    ];
  };
}

/** Of several servers, what is worst, and how many of them are no better. */
function worst(servers: readonly Facts[], check: (server: Facts) => Finding): Finding {
  const findings = servers.map(check).sort((one, other) => GRAVITY[other.verdict] - GRAVITY[one.verdict]);
  const [first] = findings;
  if (first === undefined) throw new Error("a broker has at least one server");
  if (servers.length === 1) return first;
  const alike = findings.filter(({ verdict }) => verdict === first.verdict).length;
  return { ...first, says: `${first.says} (${alike} of ${servers.length} servers)` };
}
