import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { mayBeAlive, shortProcess, supervisedProcess, thisProcess } from "./process-identity.ts";

describe("the identity of a process", () => {
  const parts = thisProcess().split("/");
  const named = (nth: number, part: string) => parts.with(nth, part).join("/");
  const deadPid = String(spawnSync(process.execPath, ["--version"]).pid);

  it("is shortened to host and pid for output; other names are not changed", () => {
    expect(shortProcess(supervisedProcess())).toBe(`${parts[0]}/${process.pid}`);
    expect(shortProcess("mine/by/name")).toBe("mine/by/name");
  });

  it("counts as alive for this process", () => {
    expect(mayBeAlive(thisProcess())).toBe(true);
  });

  it("counts as dead if the process has ended or its pid was reused", () => {
    expect(mayBeAlive(named(1, deadPid))).toBe(false);
    expect(mayBeAlive(named(2, "1"))).toBe(false);
  });

  it("counts as alive for a dead process whose supervisor is alive", () => {
    const [alive, dead] = [`${process.pid}-${parts[2]}`, `${deadPid}-${parts[2]}`];
    expect(mayBeAlive(`${named(1, deadPid)}/${alive}`)).toBe(true);
    expect(mayBeAlive(`${named(1, deadPid)}/${process.pid}-1`)).toBe(false);
    expect(mayBeAlive(`${named(1, deadPid)}/${dead}`)).toBe(false);
    expect(mayBeAlive(supervisedProcess())).toBe(true);
  });

  it("counts as alive on other hosts, other machines with the same host name, and in other containers", () => {
    expect(mayBeAlive(named(1, deadPid).replace(/^[^/]+/, "elsewhere"))).toBe(true);
    expect(mayBeAlive([parts[0], deadPid, parts[2], "0badb007-4026531836"].join("/"))).toBe(true);
    expect(mayBeAlive([parts[0], deadPid, parts[2]].join("/"))).toBe(true);
    expect(mayBeAlive("not a process at all")).toBe(true);
  });
});
