/** Whether a Redis broker is fit for work: version, durability, eviction, clock, and who else uses the database. */
import type { Finding } from "../frontier-admin.ts";
import type { Broker } from "./broker.ts";
import type { BrokerTime } from "./broker-time.ts";
import type { Shards } from "./shards.ts";

type Deps = { broker: Broker; shards: Shards; time: BrokerTime };
type Facts = Record<string, string>;

const CLOCKS_APART_MS = 1000;
const KEYS_LOOKED_AT = 1000;
const INTSET_LEAST = 512;

export function createExaminer({ broker, shards, time }: Deps, { prefix }: { prefix: string }) {
  async function facts(): Promise<Facts> {
    const text = String(await broker.ask("INFO"));
    const pairs = text.split(/\r?\n/).map((line) => line.split(":", 2));
    return Object.fromEntries(pairs.filter(([, value]) => value !== undefined)) as Facts;
  }

  /** Undefined where the rights do not allow to look. */
  async function setting(name: string): Promise<string | undefined> {
    try {
      return ((await broker.ask("CONFIG", "GET", name)) as string[])[1];
    } catch {
      return undefined; // managed servers forbid it: the finding says that it could not be looked at
    }
  }

  async function strangers(): Promise<Finding> {
    const [, keys] = (await broker.ask("SCAN", "0", "COUNT", KEYS_LOOKED_AT)) as [string, string[]];
    const foreign = keys.filter((key) => !key.startsWith(`${prefix}:{`));
    const check = "broker database";
    if (foreign.length === 0) return { check, verdict: "ok", says: `only keys of ${prefix}: were met` };
    return {
      check,
      verdict: "warning",
      says: `others use this database too: ${foreign.length} of ${keys.length} keys looked at, such as ${foreign[0]}`,
      fix: "give Trawl a Redis, or at least a database number, of its own: a FLUSHDB or an eviction there would lose URLs",
    };
  }

  return async (): Promise<readonly Finding[]> => {
    const server = await facts();
    // A call with the time in its answer, so that the clocks have been compared.
    await shards.all[0]?.run("list-workers");
    return [
      { check: "broker", verdict: "ok", says: `${broker.shown} answers` },
      version(server),
      persistence(server, await setting("appendfsync")),
      eviction(server),
      memory(server),
      packing(await setting("set-max-intset-entries")),
      clocks(time.aheadMs()),
      await strangers(),
    ];
  };
}

function version(server: Facts): Finding {
  const name = server.valkey_version === undefined ? "Redis" : "Valkey";
  const found = server.valkey_version ?? server.redis_version ?? "";
  const check = "broker version";
  if (Number.parseInt(found, 10) >= 7) return { check, verdict: "ok", says: `${name} ${found}` };
  return { check, verdict: "problem", says: `${name} ${found} is too old`, fix: "use Redis 7 or Valkey 7.2, or newer" };
}

function persistence(server: Facts, fsync: string | undefined): Finding {
  const check = "broker persistence";
  if (server.aof_enabled !== "1") {
    return {
      check,
      verdict: "warning",
      says: "no append-only file: a restart of Redis loses what was queued since its last snapshot",
      fix: "set appendonly yes, and appendfsync always or everysec (docs/operations.md says what each may lose)",
    };
  }
  if (fsync === "no") {
    const fix = "set appendfsync everysec or always";
    return { check, verdict: "warning", says: "the append-only file is written when the system likes", fix };
  }
  const loses = fsync === "always" ? "nothing that was answered is lost" : "a crash may lose the last second or two";
  return { check, verdict: "ok", says: `append-only file, appendfsync ${fsync ?? "not shown to us"}: ${loses}` };
}

function eviction(server: Facts): Finding {
  const policy = server.maxmemory_policy ?? "";
  const check = "broker eviction";
  if (policy === "noeviction") return { check, verdict: "ok", says: "noeviction: nothing is thrown away" };
  return {
    check,
    verdict: "problem",
    says: `maxmemory-policy is ${policy}: Redis would throw URLs away to make room`,
    fix: "set maxmemory-policy noeviction; submissions are then put off while Redis is full, and nothing is lost",
  };
}

function memory(server: Facts): Finding {
  const [used, most] = [Number(server.used_memory), Number(server.maxmemory)];
  const check = "broker memory";
  if (most === 0) return { check, verdict: "ok", says: `${megabytes(used)} used, no maxmemory` };
  const says = `${megabytes(used)} of ${megabytes(most)} used`;
  if (used < 0.9 * most) return { check, verdict: "ok", says };
  return { check, verdict: "warning", says, fix: "raise maxmemory, or let workers catch up before submitting more" };
}

/** Larger sets of seen URLs than Redis packs take ten times the memory. */
function packing(entries: string | undefined): Finding {
  const check = "broker packing";
  if (entries === undefined || Number(entries) >= INTSET_LEAST) {
    return { check, verdict: "ok", says: "seen URLs are kept packed" };
  }
  const says = `set-max-intset-entries is ${entries}: seen URLs would take ten times the memory`;
  return { check, verdict: "warning", says, fix: `set set-max-intset-entries to ${INTSET_LEAST}, its default` };
}

function clocks(aheadMs: number): Finding {
  const check = "broker clock";
  const says = `this machine is ${Math.abs(Math.round(aheadMs))} ms ${aheadMs >= 0 ? "ahead of" : "behind"} the broker`;
  if (Math.abs(aheadMs) < CLOCKS_APART_MS) return { check, verdict: "ok", says };
  const fix = "run NTP on both; rates are kept all the same, by the broker's clock, but times in logs will not match";
  return { check, verdict: "warning", says, fix };
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
