import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { describe, expect, it } from "vitest";
import { UNLIMITED } from "../../../domain/politeness.ts";
import { KEYS } from "../keys.ts";

const FOLDER = new URL("./", import.meta.url);
const files = readdirSync(FOLDER, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".lua"))
  .map((name) => ({ name, text: readFileSync(new URL(name, FOLDER), "utf8") }));
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

  it("give offline sites the same policy as the other backends", () => {
    const { intervalMs, burst, perSite } = UNLIMITED;
    const lanes = files.find(({ name }) => name === "lib/lanes.lua");

    expect(lanes?.text).toContain(`== "#" then return "${intervalMs} ${burst} ${perSite}"`);
  });
});
