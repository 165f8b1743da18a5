import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { MAIN, QUICK, SLOW_UNITS, UNITS } from "./test-groups.ts";

const ROOT = resolve(import.meta.dirname, "..");
const TEST_FILE = /\.test\.(ts|mjs)$/;
const files = ["src", "scripts", "dashboard", "test", "bench"].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .map((name) => `${folder}/${name}`)
    .filter((name) => TEST_FILE.test(name)),
);
const covers = (path: string, file: string) => (path.endsWith("/") ? file.startsWith(path) : file === path);

describe("the test groups", () => {
  it("contain no test file twice", () => {
    const groupsOf = (file: string) => {
      const listed = [...QUICK, ...MAIN, ...SLOW_UNITS, ...(SLOW_UNITS.includes(file) ? [] : UNITS)];
      return listed.filter((path) => covers(path, file));
    };
    const twice = files.filter((file) => groupsOf(file).length > 1);

    expect(twice).toEqual([]);
  });

  it("list only paths that have test files", () => {
    const empty = [...UNITS, ...SLOW_UNITS, ...QUICK, ...MAIN].filter(
      (path) => !files.some((file) => covers(path, file)),
    );

    expect(empty).toEqual([]);
  });
});
