import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { errorLocation } from "./error-location.ts";
import { loadModule } from "./load-module.ts";

it("returns the line of the TypeScript source, even if the loader removed types and comments above it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "trawl-location-"));
  const lines = [
    "interface Card {",
    "  title: string;",
    "}",
    "/**",
    " * A comment.",
    " */",
    "export async function page(card: Card): Promise<number> {",
    "  const text = undefined as unknown as string;",
    "  await Promise.resolve();",
    "  return text.length + card.title.length;",
    "}",
  ];
  writeFileSync(join(folder, "spider.ts"), lines.join("\n"));
  const { page } = await loadModule(join(folder, "spider.ts"), (cause) => cause);

  const error = await (page as (card: object) => Promise<number>)({ title: "" }).catch((cause: unknown) => cause);

  expect(errorLocation(error, folder)).toMatch(/^spider\.ts:10:\d+$/);
  expect(errorLocation(error, "/elsewhere")).toMatch(new RegExp(`^${folder}/spider\\.ts:10:\\d+$`));
});

it.each([
  ["    at page (/shop/spider.ts:18:15)", "spider.ts:18:15"],
  ["    at /shop/spider.ts:18:15", "spider.ts:18:15"],
  ["    at async file:///shop/lib/read.ts:3:1", "lib/read.ts:3:1"],
  ["    at f (node:internal/timers:1:2)\n    at page (/shop/my (own) spider.ts:2:3)", "my (own) spider.ts:2:3"],
  ["    at f (/shop/node_modules/zod/index.js:1:1)\n    at page (/shop/a.ts:2:3)", "a.ts:2:3"],
  ["    at f (node:internal/timers:1:2)", undefined],
])("is the first frame of the user's code: %s", (frames, location) => {
  const error = new Error("oh");
  error.stack = `Error: oh\n${frames}`;

  expect(errorLocation(error, "/shop")).toBe(location);
});

it("is undefined for a thrown value that is not an Error", () => {
  expect(errorLocation("oh")).toBeUndefined();
});
