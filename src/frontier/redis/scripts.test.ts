import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { loadScripts, withComment } from "./scripts.ts";

const FOLDER = new URL("./lua/", import.meta.url);
const files = readdirSync(FOLDER).filter((file) => file.endsWith(".lua"));

function textOf(file: string): string {
  return readFileSync(new URL(file, FOLDER), "utf8");
}

describe("loadScripts", () => {
  const scripts = loadScripts();

  it("finds every operation, whole and named by its content", () => {
    expect([...scripts.keys()].sort()).toEqual(files.map((file) => file.slice(0, -4)).sort());
    for (const { name, source, sha } of scripts.values()) {
      expect(sha).toBe(createHash("sha1").update(source).digest("hex"));
      expect(source.startsWith("#!lua"), `${name} says how it is run, first`).toBe(true);
      expect(source, name).not.toMatch(/@include/);
      expect(source, name).toMatch(/local shard = KEYS\[1\]/);
    }
  });

  it("leaves out comments and nothing else", () => {
    const { source = "" } = scripts.get("extend") ?? {};
    expect(source).not.toMatch(/^\s*--/m);
    for (const line of textOf("extend.lua").split("\n")) if (!line.startsWith("--")) expect(source).toContain(line);
  });

  it("holds scripts to their form: a header, KEYS, a cost, and few lines of their own", () => {
    for (const file of files) {
      const text = textOf(file);
      const name = file.slice(0, -4);
      expect(text.split("\n")[1], file).toMatch(new RegExp(`^-- ${name}: `));
      expect(text, file).toMatch(/^-- KEYS {2}1 the shard/m);
      expect(text, file).toMatch(/Cost: /);
      expect(text.split("\n").filter((line) => line !== "" && !line.startsWith("--")).length, file).toBeLessThan(90);
    }
  });

  it("lets only what takes in more run out of memory", () => {
    const bounded = [...scripts.values()].filter(({ source }) => !source.startsWith("#!lua flags=allow-oom"));
    expect(bounded.map(({ name }) => name).sort()).toEqual(["create-job", "enqueue", "reopen", "replay-dead"]);
  });

  it("gives the same script another name to the server, one line of it whatever the comment", () => {
    const script = scripts.get("lease");
    if (script === undefined) throw new Error("there is a lease script");
    const [one, other] = [withComment(script, "a:{0}"), withComment(script, "a:{1}\nreturn 1")];
    expect(new Set([script.sha, one.sha, other.sha]).size).toBe(3);
    expect(other.source.trimEnd().split("\n").at(-1)).toBe('-- "a:{1}\\nreturn 1"');
    expect(one.sha).toBe(createHash("sha1").update(one.source).digest("hex"));
  });
});
