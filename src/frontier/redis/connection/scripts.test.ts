import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { describe, expect, it } from "vitest";
import { loadScripts, withComment } from "./scripts.ts";

const FOLDER = new URL("../lua/", import.meta.url);
const files = readdirSync(FOLDER, { recursive: true, encoding: "utf8" }).filter(
  (file) => file.endsWith(".lua") && !file.startsWith("lib/"),
);

describe("loadScripts", () => {
  const scripts = loadScripts();

  it("finds every operation, joined with its includes and identified by its SHA-1", () => {
    expect([...scripts.keys()].sort()).toEqual(files.map((file) => basename(file, ".lua")).sort());
    for (const { name, source, sha } of scripts.values()) {
      expect(sha).toBe(createHash("sha1").update(source).digest("hex"));
      expect(source.startsWith("#!lua"), `${name} starts with #!lua`).toBe(true);
      expect(source, name).not.toMatch(/@include/);
      expect(source, name).toMatch(/local shard = KEYS\[1\]/);
    }
  });

  it("removes comments and nothing else", () => {
    const { source = "" } = scripts.get("extend") ?? {};
    expect(source).not.toMatch(/^\s*--/m);
    const text = readFileSync(new URL("tasks/extend.lua", FOLDER), "utf8");
    for (const line of text.split("\n")) if (!line.startsWith("--")) expect(source).toContain(line);
  });

  it("runs on a server that is out of memory, except for scripts that add work", () => {
    const bounded = [...scripts.values()].filter(({ source }) => !source.startsWith("#!lua flags=allow-oom"));
    expect(bounded.map(({ name }) => name).sort()).toEqual(["create-job", "enqueue", "reopen-jobs", "replay-dead"]);
  });

  it("gives a script another SHA-1 with a comment, which stays on one line", () => {
    const script = scripts.get("lease");
    if (script === undefined) throw new Error("there is a lease script");
    const [one, other] = [withComment(script, "a:{0}"), withComment(script, "a:{1}\nreturn 1")];
    expect(new Set([script.sha, one.sha, other.sha]).size).toBe(3);
    expect(other.source.trimEnd().split("\n").at(-1)).toBe('-- "a:{1}\\nreturn 1"');
    expect(one.sha).toBe(createHash("sha1").update(one.source).digest("hex"));
  });
});
