/** Checks of a Redis server that is used as a broker, each with its fix. docs/operations.md explains the reasons. */
import type { Finding } from "../../frontier-admin.ts";
import { KEYS } from "../keys.ts";
import type { ServerInfo } from "./server-info.ts";

const CLOCKS_APART_MS = 1000;
const MIN_INTSET = 512;
const OLDEST_MAJOR = 7;
const NEARLY_FULL = 0.9;
const NOT_REPORTED = "the server does not report it";

export function checkVersion(server: ServerInfo): Finding {
  const name = server.valkey_version === undefined ? "Redis" : "Valkey";
  const found = server.valkey_version ?? server.redis_version ?? "";
  const check = "broker version";
  if (Number.parseInt(found, 10) >= OLDEST_MAJOR) return { check, verdict: "ok", message: `${name} ${found}` };
  const fix = "use Redis 7 or Valkey 7.2, or newer";
  return { check, verdict: "problem", message: `${name} ${found} is too old: the scripts need version 7`, fix };
}

/** A replica answers calls but refuses writes. */
export function checkRole({ role, connected_slaves: replicas = "0" }: ServerInfo): Finding {
  const check = "broker role";
  if (role !== "slave") {
    const copies = replicas === "0" ? "no replica" : `${replicas} ${replicas === "1" ? "replica" : "replicas"}`;
    return { check, verdict: "ok", message: `master, ${copies}` };
  }
  const fix = "set TRAWL_BROKER to the master, or to its sentinels: redis+sentinel://host:port/master";
  return { check, verdict: "problem", message: "this is a replica, which accepts no writes", fix };
}

export function checkPermissions(missing: readonly string[]): Finding {
  const check = "broker permissions";
  if (missing.length === 0) return { check, verdict: "ok", message: "all required commands are allowed" };
  const fix = "grant this user the permissions that docs/operations.md lists";
  return { check, verdict: "problem", message: `this user may not run ${missing.join(", ")}`, fix };
}

export function checkPersistence(server: ServerInfo, fsync: string | undefined): Finding {
  const check = "broker persistence";
  if (server.aof_enabled !== "1") {
    return {
      check,
      verdict: "warning",
      message: "no append-only file: a restart of Redis loses all changes since its last snapshot",
      fix: "set appendonly yes, and appendfsync always or everysec; docs/operations.md says what each may lose",
    };
  }
  if (server.aof_last_write_status === "err") {
    const fix = "free disk space for Redis; until then it refuses all writes";
    return { check, verdict: "problem", message: "the append-only file could not be written", fix };
  }
  if (fsync === "no") {
    const fix = "set appendfsync everysec or always";
    return {
      check,
      verdict: "warning",
      message: "appendfsync no: the operating system decides when the append-only file reaches the disk",
      fix,
    };
  }
  if (fsync === undefined) return { check, verdict: "ok", message: `append-only file; appendfsync: ${NOT_REPORTED}` };
  const loses = fsync === "always" ? "no acknowledged write is lost" : "a power cut may lose the last second or two";
  return { check, verdict: "ok", message: `append-only file, appendfsync ${fsync}: ${loses}` };
}

export function checkEviction({ maxmemory_policy: policy }: ServerInfo): Finding {
  const check = "broker eviction";
  if (policy === "noeviction") return { check, verdict: "ok", message: "noeviction: Redis evicts no keys" };
  if (policy === undefined) {
    const fix = "check with your provider that the policy is noeviction";
    return { check, verdict: "warning", message: `maxmemory-policy: ${NOT_REPORTED}`, fix };
  }
  return {
    check,
    verdict: "problem",
    message: `maxmemory-policy is ${policy}: Redis would evict URLs when its memory is full; workers and submit refuse to run`,
    fix: "set maxmemory-policy noeviction; while Redis is full, submissions then wait and nothing is lost",
  };
}

export function checkMemory(server: ServerInfo): Finding {
  const [used, max] = [Number(server.used_memory), Number(server.maxmemory)];
  const check = "broker memory";
  if (!(max > 0)) return { check, verdict: "ok", message: `${megabytes(used)} used, no maxmemory` };
  const message = `${megabytes(used)} of ${megabytes(max)} used`;
  if (used < NEARLY_FULL * max) return { check, verdict: "ok", message };
  const verdict = used < max ? "warning" : "problem";
  return {
    check,
    verdict,
    message,
    fix: "raise maxmemory, or wait until workers have fetched some URLs before you submit more",
  };
}

/** Sets of seen URLs that are too large for Redis to pack take ten times the memory. */
export function checkPacking(entries: string | undefined): Finding {
  const check = "broker packing";
  if (entries === undefined) return { check, verdict: "ok", message: `set-max-intset-entries: ${NOT_REPORTED}` };
  if (Number(entries) >= MIN_INTSET)
    return { check, verdict: "ok", message: "seen URLs are stored in the compact form" };
  const message = `set-max-intset-entries is ${entries}: seen URLs would take ten times the memory`;
  return { check, verdict: "warning", message, fix: `set set-max-intset-entries to ${MIN_INTSET}, its default` };
}

export function checkClocks(aheadMs: number): Finding {
  const check = "broker clock";
  const message = `this machine is ${apart(Math.abs(aheadMs))} ${aheadMs >= 0 ? "ahead of" : "behind"} the broker`;
  if (Math.abs(aheadMs) < CLOCKS_APART_MS) return { check, verdict: "ok", message };
  const fix =
    "run NTP on both machines; rates are unaffected because they use the broker's clock, but times in logs do not match";
  return { check, verdict: "warning", message, fix };
}

/** Searches the given keys for other prefixes. Keys of another Trawl are recognized by their format. */
export function checkDatabase(keys: readonly string[] | undefined, prefix: string): Finding {
  const check = "broker database";
  if (keys === undefined)
    return { check, verdict: "ok", message: "the permissions of this user do not allow listing keys" };
  const foreign = keys.filter((key) => !key.startsWith(`${prefix}:{`));
  const [example] = foreign;
  if (example === undefined) return { check, verdict: "ok", message: `all scanned keys have the prefix ${prefix}` };
  const others = [...new Set(foreign.flatMap((key) => prefixOf(key) ?? []))].sort();
  if (others.length > 0) {
    return {
      check,
      verdict: "warning",
      message: `another Trawl uses this database, with the prefix ${some(others)}; ours is ${prefix}. Both share the memory of the server, but no jobs`,
      fix: "ignore this if it is intended; else set the same TRAWL_BROKER_PREFIX for the whole fleet, or use separate Redis servers",
    };
  }
  return {
    check,
    verdict: "warning",
    message: `other programs use this database: ${foreign.length} of ${keys.length} scanned keys, such as ${example}`,
    fix: "give Trawl its own Redis, or at least its own database number: in a shared database, a FLUSHDB or an eviction may delete URLs",
  };
}

const KEY_NAMES: ReadonlySet<string> = new Set(Object.keys(KEYS).map((key) => key.split(":")[0] ?? ""));
const LISTED_MAX = 3;

function prefixOf(key: string): string | undefined {
  const [, prefix, name = ""] = /^(.+):\{\d+\}:([\w-]+)/.exec(key) ?? [];
  return KEY_NAMES.has(name) ? prefix : undefined;
}

function some(names: readonly string[]): string {
  const rest = names.length - LISTED_MAX;
  return names.slice(0, LISTED_MAX).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}

function apart(ms: number): string {
  return ms < CLOCKS_APART_MS ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
