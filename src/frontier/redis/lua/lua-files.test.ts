import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { describe, expect, it } from "vitest";
import { TERM_MS, UNLIMITED } from "../../../domain/politeness.ts";
import { loadScripts } from "../connection/scripts.ts";
import { KEYS } from "../keys.ts";

const FOLDER = new URL("./", import.meta.url);
const files = readdirSync(FOLDER, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".lua"))
  .map((name) => ({ name, text: readFileSync(new URL(name, FOLDER), "utf8") }));
/** A function in Lua, and so a script, has at most 200 local variables. */
const MAX_LOCALS = 195;
const operations = files.filter(({ name }) => !name.startsWith("lib/"));

describe("the Lua files", () => {
  it("use exactly the keys that keys.ts lists", () => {
    const used = files.flatMap(({ text }) => [
      ...[...text.matchAll(/\bkey\("([a-z-]+)"/g)].map(([, name]) => name),
      ...[...text.matchAll(/":([a-z-]+):"/g)].map(([, name]) => name),
      ...[...text.matchAll(/save_counts\("([a-z-]+)"/g)].map(([, name]) => name),
    ]);
    const listed = Object.keys(KEYS).map((name) => name.split(":")[0]);

    expect([...new Set(used)].sort()).toEqual([...new Set(listed)].sort());
  });

  it("start with a header (purpose, KEYS, reply, cost) and have at most 80 lines", () => {
    for (const { name, text } of operations) {
      expect(text, name).toMatch(new RegExp(`^#!lua( flags=allow-oom)?\\n-- ${basename(name, ".lua")}: `));
      expect(text, name).toContain("-- KEYS  1 the shard");
      expect(text, name).toMatch(/^-- Reply: /m);
      expect(text, name).toContain("Cost: ");
      expect(text.split("\n").length, `lines of ${name}`).toBeLessThanOrEqual(80);
    }
  });

  it("have few enough local variables, with all the files they include", () => {
    for (const { name, source } of loadScripts().values()) {
      const names = [...source.matchAll(/^local (function )?([^=\n]+)/gm)].map(([, isFunction, text = ""]) =>
        isFunction === undefined ? text.split(",").length : 1,
      );
      expect(
        names.reduce((sum, count) => sum + count, 0),
        name,
      ).toBeLessThanOrEqual(MAX_LOCALS);
    }
  });

  it("give offline sites the same policy as the other backends", () => {
    const { intervalMs, burst, perSite } = UNLIMITED;
    const lanes = files.find(({ name }) => name === "lib/lanes.lua");

    expect(lanes?.text).toContain(`== "#" then return "${intervalMs} ${burst} ${perSite}"`);
  });

  it("use terms of the same length as the other backends", () => {
    const politeness = files.find(({ name }) => name === "lib/politeness.lua");

    expect(politeness?.text).toContain(`local TERM_MS, TERM_WORK_MS = ${TERM_MS}, `);
  });
});
