import { describe, expect, it } from "vitest";
import { TrawlError } from "../../../errors.ts";
import { createLog } from "../../../runtime/log.ts";
import {
  checkClocks,
  checkDatabase,
  checkEviction,
  checkMemory,
  checkPacking,
  checkPersistence,
  checkRole,
  checkVersion,
} from "./checks.ts";
import { refuseEviction } from "./refuse-unsafe.ts";
import { parseServerInfo } from "./server-info.ts";

describe("checks of a Redis broker", () => {
  it("parse INFO, including values with colons", () => {
    expect(parseServerInfo("# Server\r\nredis_version:7.0.15\r\nexecutable:/usr/bin/redis:x\r\n")).toEqual({
      redis_version: "7.0.15",
      executable: "/usr/bin/redis:x",
    });
  });

  it.each([
    [{ redis_version: "6.2.14" }, "problem", "Redis 6.2.14 is too old: the scripts need version 7"],
    [{ redis_version: "7.0.15" }, "ok", "Redis 7.0.15"],
    [{ redis_version: "7.2.4", valkey_version: "8.0.1" }, "ok", "Valkey 8.0.1"],
    [{ redis_version: "10.0.0" }, "ok", "Redis 10.0.0"],
    [{}, "problem", "Redis  is too old: the scripts need version 7"],
  ] as const)("version: %o is a %s", (server, verdict, message) => {
    expect(checkVersion(server)).toMatchObject({ verdict, message });
  });

  it.each([
    [{ role: "master", connected_slaves: "2" }, "ok", "master, 2 replicas"],
    [{ role: "master", connected_slaves: "0" }, "ok", "master, no replica"],
    [{ role: "slave" }, "problem", "this is a replica, which accepts no writes"],
  ] as const)("role: %o", (server, verdict, message) => {
    expect(checkRole(server)).toMatchObject({ verdict, message });
  });

  it.each([
    [{ aof_enabled: "0" }, undefined, "warning"],
    [{ aof_enabled: "1", aof_last_write_status: "err" }, "always", "problem"],
    [{ aof_enabled: "1", aof_last_write_status: "ok" }, "no", "warning"],
    [{ aof_enabled: "1", aof_last_write_status: "ok" }, "everysec", "ok"],
    [{ aof_enabled: "1", aof_last_write_status: "ok" }, undefined, "ok"],
  ] as const)("persistence: %o, appendfsync %s is a %s", (server, fsync, verdict) => {
    expect(checkPersistence(server, fsync)).toMatchObject({ verdict });
  });

  it("refuse a server that evicts keys, and warn if it does not report its policy", () => {
    const lines: string[] = [];
    const deps = { log: createLog("warn", (line) => void lines.push(line)), redacted: "redis://127.0.0.1:1" };

    expect(checkEviction({ maxmemory_policy: "noeviction" })).toMatchObject({ verdict: "ok" });
    expect(checkEviction({ maxmemory_policy: "volatile-ttl" })).toMatchObject({ verdict: "problem" });
    expect(checkEviction({})).toMatchObject({ verdict: "warning" });
    refuseEviction({ maxmemory_policy: "noeviction" }, deps);
    expect(() => refuseEviction({ maxmemory_policy: "allkeys-lru" }, deps)).toThrow(TrawlError);
    expect(lines).toEqual([]);
    refuseEviction({}, deps);
    expect(lines.join()).toContain("broker.eviction_unknown");
  });

  it("check memory, packing of sets and the clock", () => {
    expect(checkMemory({ used_memory: "95", maxmemory: "100" })).toMatchObject({ verdict: "warning" });
    expect(checkMemory({ used_memory: "100", maxmemory: "100" })).toMatchObject({ verdict: "problem" });
    expect(checkMemory({ used_memory: "50", maxmemory: "100" })).toMatchObject({ verdict: "ok" });
    expect(checkPacking("128")).toMatchObject({ verdict: "warning" });
    expect(checkPacking("512")).toMatchObject({ verdict: "ok" });
    expect(checkClocks(-999)).toMatchObject({ verdict: "ok", message: "this machine is 999 ms behind the broker" });
    expect(checkClocks(61_500)).toMatchObject({
      verdict: "warning",
      message: "this machine is 61.5 s ahead of the broker",
      fix: expect.stringContaining("NTP"),
    });
  });

  it("distinguish keys of another Trawl from keys of other programs", () => {
    const own = ["trawl:{0}:meta", "trawl:{0}:job:1"];

    expect(checkDatabase(own, "trawl")).toMatchObject({ verdict: "ok" });
    expect(checkDatabase([...own, "sessions:7", "bull:{0}:x"], "trawl")).toMatchObject({
      verdict: "warning",
      message: "other programs use this database: 2 of 4 scanned keys, such as sessions:7",
    });
    expect(checkDatabase([...own, "staging:{0}:meta", "staging:{3}:site:9"], "trawl").message).toContain(
      "another Trawl uses this database, with the prefix staging; ours is trawl.",
    );
  });
});
