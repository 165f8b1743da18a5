import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { spiderHash } from "./spider-hash.ts";

describe("the hash of a spider", () => {
  let folder: string;
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  const hash = () => spiderHash(join(folder, "spider.ts"));
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "trawl-hash-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    mkdirSync(join(folder, "lib"));
    write(
      "spider.ts",
      `import { a } from "./a.js";\nimport "./lib";\nconst c = await import('./c.json');\nimport z from "zod";`,
    );
    write("a.ts", `export * from "./b";`);
    write("b.mjs", `import "./a.ts"; export const a = 1;`);
    write("lib/index.ts", "");
    write("c.json", "{}");
    write("unrelated.ts", "");
  });

  it.each(["spider.ts", "a.ts", "b.mjs", "lib/index.ts", "c.json"])("changes with %s", (name) => {
    const before = hash();
    expect(hash()).toBe(before);
    write(name, "// another");
    expect(hash()).not.toBe(before);
  });

  it("does not change with a file that it does not import", () => {
    const before = hash();
    write("unrelated.ts", "// another");
    expect(hash()).toBe(before);
  });

  it("is defined for a module that does not exist", () => {
    expect(spiderHash(join(folder, "none.ts"))).toMatch(/^[\w-]+$/);
  });
});
