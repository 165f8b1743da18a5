/** Limits the size of the first load, so that the dashboard is usable on a phone with a slow connection. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";

const BUILT = resolve(import.meta.dirname, "../../dist/dashboard");
const KB = 1024;
const BUDGET_BYTES = 60 * KB;

type Chunk = { file: string; css?: string[]; imports?: string[]; assets?: string[] };

it("loads at most 60 KB, compressed, for the overview", () => {
  const manifest = JSON.parse(read("manifest.json")) as Record<string, Chunk>;
  const files = new Set(["index.html"]);
  const visit = (name: string): void => {
    const { file, css = [], imports = [], assets = [] } = manifest[name] as Chunk;
    for (const one of [file, ...css, ...assets]) files.add(one);
    imports.forEach(visit);
  };
  for (const first of ["index.html", "src/pages/overview/overview.tsx"]) visit(first);

  const sizes = [...files].map((file) => [file, gzipSync(read(file), { level: 9 }).length] as const);
  const sum = sizes.reduce((all, [, size]) => all + size, 0);
  expect(files.size).toBeGreaterThan(4);
  expect(sum, JSON.stringify(sizes)).toBeLessThanOrEqual(BUDGET_BYTES);
});

it("loads nothing from other servers and has no inline scripts or styles", () => {
  const page = read("index.html");
  const links = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link = ""]) => link);

  expect(links.length).toBeGreaterThan(2);
  expect(links.filter((link) => !link.startsWith("./assets/"))).toEqual([]);
  expect(page).not.toMatch(/<style|<script(?![^>]*\bsrc=)|\son\w+=|\sstyle=/i);
});

function read(file: string): string {
  return readFileSync(resolve(BUILT, file), "utf8");
}
