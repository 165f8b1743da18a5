import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { MAIN, QUICK, UNITS } from "./lanes.ts";

const ROOT = resolve(import.meta.dirname, "..");
const TEST_FILE = /\.test\.(ts|mjs)$/;
const files = ["src", "scripts", "dashboard", "test", "bench"].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .map((name) => `${folder}/${name}`)
    .filter((name) => TEST_FILE.test(name)),
);
const covers = (path: string, file: string) => (path.endsWith("/") ? file.startsWith(path) : file === path);

describe("the lanes", () => {
  it("contain no test file twice", () => {
    const listed = [...UNITS, ...QUICK, ...MAIN];
    const twice = files.filter((file) => listed.filter((path) => covers(path, file)).length > 1);

    expect(twice).toEqual([]);
  });

  it("list only paths that have test files", () => {
    const empty = [...UNITS, ...QUICK, ...MAIN].filter((path) => !files.some((file) => covers(path, file)));

    expect(empty).toEqual([]);
  });
});
