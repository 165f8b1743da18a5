/** What a browser loads before the overview stands: little enough for a phone on a poor line. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { beforeAll, expect, it } from "vitest";
import { ensureDist } from "../e2e/dist.ts";

const BUILT = resolve(import.meta.dirname, "../../dist/dashboard");
const KB = 1024;
const MOST = 60 * KB;

type Chunk = { file: string; css?: string[]; imports?: string[]; assets?: string[] };

// Two builds at once, on a machine that is busy, take their time.
beforeAll(ensureDist, 240_000);

it("loads no more than 60 KB, compressed, until the overview is there", () => {
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
  expect(sum, JSON.stringify(sizes)).toBeLessThanOrEqual(MOST);
});

it("names nothing of another server, and has nothing inline", () => {
  const page = read("index.html");
  const links = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link = ""]) => link);

  expect(links.length).toBeGreaterThan(2);
  expect(links.filter((link) => !link.startsWith("./assets/"))).toEqual([]);
  expect(page).not.toMatch(/<style|<script(?![^>]*\bsrc=)|\son\w+=|\sstyle=/i);
});

function read(file: string): string {
  return readFileSync(resolve(BUILT, file), "utf8");
}
