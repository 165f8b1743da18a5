/** What is right and wrong with a Redis that is to be a broker, each with what to do about it. docs/operations.md tells why. */
import type { Finding } from "../frontier-admin.ts";
import { KEYS } from "./keys.ts";
import type { Facts } from "./server-facts.ts";

const CLOCKS_APART_MS = 1000;
const INTSET_LEAST = 512;
const OLDEST = 7;
const NEARLY_FULL = 0.9;
const NOT_SHOWN = "the server does not show it to us";

export function checkVersion(server: Facts): Finding {
  const name = server.valkey_version === undefined ? "Redis" : "Valkey";
  const found = server.valkey_version ?? server.redis_version ?? "";
  const check = "broker version";
  if (Number.parseInt(found, 10) >= OLDEST) return { check, verdict: "ok", says: `${name} ${found}` };
  const fix = "use Redis 7 or Valkey 7.2, or newer";
  return { check, verdict: "problem", says: `${name} ${found} is too old: scripts need 7`, fix };
}

/** A replica answers, and refuses every write. */
export function checkRole({ role, connected_slaves: replicas = "0" }: Facts): Finding {
  const check = "broker role";
  if (role !== "slave") {
    const copies = replicas === "0" ? "no replica" : `${replicas} ${replicas === "1" ? "replica" : "replicas"}`;
    return { check, verdict: "ok", says: `master, ${copies}` };
  }
  const fix = "name the master in TRAWL_BROKER, or the sentinels that know it: redis+sentinel://host:port/master";
  return { check, verdict: "problem", says: "this is a replica, which takes no writes", fix };
}

export function checkRights(missing: readonly string[]): Finding {
  const check = "broker rights";
  if (missing.length === 0) return { check, verdict: "ok", says: "every command that is needed is allowed" };
  const fix = "give this user the rights that docs/operations.md lists";
  return { check, verdict: "problem", says: `this user may not run ${missing.join(", ")}`, fix };
}

export function checkPersistence(server: Facts, fsync: string | undefined): Finding {
  const check = "broker persistence";
  if (server.aof_enabled !== "1") {
    return {
      check,
      verdict: "warning",
      says: "no append-only file: a restart of Redis loses what was queued since its last snapshot",
      fix: "set appendonly yes, and appendfsync always or everysec; docs/operations.md says what each may lose",
    };
  }
  if (server.aof_last_write_status === "err") {
    const fix = "make room on the disk of Redis; until then it refuses every write";
    return { check, verdict: "problem", says: "the append-only file could not be written", fix };
  }
  if (fsync === "no") {
    const fix = "set appendfsync everysec or always";
    return { check, verdict: "warning", says: "the append-only file is written when the system likes", fix };
  }
  if (fsync === undefined) return { check, verdict: "ok", says: `append-only file; appendfsync: ${NOT_SHOWN}` };
  const loses =
    fsync === "always" ? "nothing that was answered is lost" : "a power cut may lose the last second or two";
  return { check, verdict: "ok", says: `append-only file, appendfsync ${fsync}: ${loses}` };
}

export function checkEviction({ maxmemory_policy: policy }: Facts): Finding {
  const check = "broker eviction";
  if (policy === "noeviction") return { check, verdict: "ok", says: "noeviction: nothing is thrown away" };
  if (policy === undefined) {
    const fix = "make sure by other means that it is noeviction";
    return { check, verdict: "warning", says: `maxmemory-policy: ${NOT_SHOWN}`, fix };
  }
  return {
    check,
    verdict: "problem",
    says: `maxmemory-policy is ${policy}: Redis would throw URLs away to make room; workers and submit refuse it`,
    fix: "set maxmemory-policy noeviction; submissions are then put off while Redis is full, and nothing is lost",
  };
}

export function checkMemory(server: Facts): Finding {
  const [used, most] = [Number(server.used_memory), Number(server.maxmemory)];
  const check = "broker memory";
  if (!(most > 0)) return { check, verdict: "ok", says: `${megabytes(used)} used, no maxmemory` };
  const says = `${megabytes(used)} of ${megabytes(most)} used`;
  if (used < NEARLY_FULL * most) return { check, verdict: "ok", says };
  const verdict = used < most ? "warning" : "problem";
  return { check, verdict, says, fix: "raise maxmemory, or let workers catch up before submitting more" };
}

/** Larger sets of seen URLs than Redis packs take ten times the memory. */
export function checkPacking(entries: string | undefined): Finding {
  const check = "broker packing";
  if (entries === undefined) return { check, verdict: "ok", says: `set-max-intset-entries: ${NOT_SHOWN}` };
  if (Number(entries) >= INTSET_LEAST) return { check, verdict: "ok", says: "seen URLs are kept packed" };
  const says = `set-max-intset-entries is ${entries}: seen URLs would take ten times the memory`;
  return { check, verdict: "warning", says, fix: `set set-max-intset-entries to ${INTSET_LEAST}, its default` };
}

export function checkClocks(aheadMs: number): Finding {
  const check = "broker clock";
  const says = `this machine is ${apart(Math.abs(aheadMs))} ${aheadMs >= 0 ? "ahead of" : "behind"} the broker`;
  if (Math.abs(aheadMs) < CLOCKS_APART_MS) return { check, verdict: "ok", says };
  const fix = "run NTP on both; rates are kept all the same, by the broker's clock, but times in logs will not match";
  return { check, verdict: "warning", says, fix };
}

/** Keys that are not of this prefix: those of another Trawl are told by their shape. */
export function checkDatabase(keys: readonly string[] | undefined, prefix: string): Finding {
  const check = "broker database";
  if (keys === undefined)
    return { check, verdict: "ok", says: "the rights of this user do not allow to look who else is there" };
  const foreign = keys.filter((key) => !key.startsWith(`${prefix}:{`));
  const [example] = foreign;
  if (example === undefined) return { check, verdict: "ok", says: `only keys of ${prefix}: were met` };
  const others = [...new Set(foreign.flatMap((key) => prefixOf(key) ?? []))].sort();
  if (others.length > 0) {
    return {
      check,
      verdict: "warning",
      says: `another Trawl is in this database, with the prefix ${some(others)}; ours is ${prefix}. They share its memory, and no work`,
      fix: "fine if that is meant; else set TRAWL_BROKER_PREFIX alike for all of a fleet, or give each a Redis of its own",
    };
  }
  return {
    check,
    verdict: "warning",
    says: `others use this database too: ${foreign.length} of ${keys.length} keys looked at, such as ${example}`,
    fix: "give Trawl a Redis, or at least a database number, of its own: a FLUSHDB or an eviction there would lose URLs",
  };
}

const NAMES: ReadonlySet<string> = new Set(Object.keys(KEYS).map((key) => key.split(":")[0] ?? ""));
const NAMED = 3;

function prefixOf(key: string): string | undefined {
  const [, prefix, name = ""] = /^(.+):\{\d+\}:([\w-]+)/.exec(key) ?? [];
  return NAMES.has(name) ? prefix : undefined;
}

function some(names: readonly string[]): string {
  const rest = names.length - NAMED;
  return names.slice(0, NAMED).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}

function apart(ms: number): string {
  return ms < CLOCKS_APART_MS ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
