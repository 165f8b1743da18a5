import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { UNLIMITED } from "../../domain/politeness.ts";
import { KEYS } from "./keys.ts";

const FOLDER = new URL("./lua/", import.meta.url);
const files = readdirSync(FOLDER, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".lua"))
  .map((name) => ({ name, text: readFileSync(new URL(name, FOLDER), "utf8") }));
const operations = files.filter(({ name }) => !name.includes("/"));

describe("the Lua files", () => {
  it("use no key that keys.ts does not list, and keys.ts lists none that is not used", () => {
    const used = files.flatMap(({ text }) => [
      ...[...text.matchAll(/\bkey\("([a-z-]+)"/g)].map(([, name]) => name),
      ...[...text.matchAll(/":([a-z-]+):"/g)].map(([, name]) => name),
      ...[...text.matchAll(/save_counts\("([a-z-]+)"/g)].map(([, name]) => name),
    ]);
    const listed = Object.keys(KEYS).map((name) => name.split(":")[0]);

    expect([...new Set(used)].sort()).toEqual([...new Set(listed)].sort());
  });

  it("say what they take, answer and cost, in a page or less", () => {
    for (const { name, text } of operations) {
      expect(text, name).toMatch(new RegExp(`^#!lua( flags=allow-oom)?\\n-- ${name.replace(".lua", "")}: `));
      expect(text, name).toContain("-- KEYS  1 the shard");
      expect(text, name).toMatch(/^-- Reply: /m);
      expect(text, name).toContain("Cost: ");
      expect(text.split("\n").length, `lines of ${name}`).toBeLessThanOrEqual(80);
    }
  });

  it("limit what asks nothing of a site as little as the other backends do", () => {
    const { intervalMs, burst, perSite } = UNLIMITED;
    const lanes = files.find(({ name }) => name === "lib/lanes.lua");

    expect(lanes?.text).toContain(`== "#" then return "${intervalMs} ${burst} ${perSite}"`);
  });

  it("run on a full server, but for those that bring in new work", () => {
    const refused = operations.filter(({ text }) => text.startsWith("#!lua\n")).map(({ name }) => name);

    expect(refused.sort()).toEqual(["create-job.lua", "enqueue.lua", "reopen.lua", "replay-dead.lua"]);
  });
});
