import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { mayBeAlive, shortProcess, supervisedProcess, thisProcess } from "./process-identity.ts";

describe("the name of a process", () => {
  const parts = thisProcess().split("/");
  const named = (nth: number, part: string) => parts.with(nth, part).join("/");
  const deadPid = String(spawnSync(process.execPath, ["--version"]).pid);

  it("has a short form for people, and one that is none stays as it is", () => {
    expect(shortProcess(supervisedProcess())).toBe(`${parts[0]}/${process.pid}`);
    expect(shortProcess("mine/by/name")).toBe("mine/by/name");
  });

  it("tells that this process is alive", () => {
    expect(mayBeAlive(thisProcess())).toBe(true);
  });

  it("tells that one which has ended, or whose id was given out again, is dead", () => {
    expect(mayBeAlive(named(1, deadPid))).toBe(false);
    expect(mayBeAlive(named(2, "1"))).toBe(false);
  });

  it("leaves one that is dead to its supervisor, as long as that is alive", () => {
    const [alive, dead] = [`${process.pid}-${parts[2]}`, `${deadPid}-${parts[2]}`];
    expect(mayBeAlive(`${named(1, deadPid)}/${alive}`)).toBe(true);
    expect(mayBeAlive(`${named(1, deadPid)}/${process.pid}-1`)).toBe(false);
    expect(mayBeAlive(`${named(1, deadPid)}/${dead}`)).toBe(false);
    expect(mayBeAlive(supervisedProcess())).toBe(true);
  });

  it("never judges what it cannot see: other hosts, other machines of the same name, other containers", () => {
    expect(mayBeAlive(named(1, deadPid).replace(/^[^/]+/, "elsewhere"))).toBe(true);
    expect(mayBeAlive([parts[0], deadPid, parts[2], "0badb007-4026531836"].join("/"))).toBe(true);
    expect(mayBeAlive([parts[0], deadPid, parts[2]].join("/"))).toBe(true);
    expect(mayBeAlive("not a process at all")).toBe(true);
  });
});
