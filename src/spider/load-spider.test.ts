import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { isTrawlError } from "../errors.ts";
import { loadSpider } from "./load-spider.ts";

const VALID = 'name: "shop", start: ["https://a.example/"], page() {}';

/** The problems of a spider with these keys, one per line of the message. */
async function problemsOf(keys: string): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), "trawl-spider-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "spider.mjs");
  writeFileSync(path, `export default { ${keys} };`);
  try {
    await loadSpider(path);
    return [];
  } catch (error) {
    if (!isTrawlError(error, "BAD_SPIDER")) throw error;
    return error.message.replace(`${path}: `, "").split("\n");
  }
}

it("accepts a valid spider", async () => {
  expect(await problemsOf(VALID)).toEqual([]);
});

it.each([
  ["rate", "politeness.rate"],
  ["perSite", "politeness.perSite"],
  ["robots", "politeness.robots"],
  ["maxDepth", "follow.maxDepth"],
  ["maxPages", "limits.pages"],
  ["urls", "start"],
  ["url", "start"],
])("suggests the right key for %s: %s", async (key, meant) => {
  const [problem, ...others] = await problemsOf(`${VALID}, ${key}: 1`);

  expect(problem).toContain(`unknown key ${key}; ${key}: did you mean ${meant}? known keys: start, page`);
  expect(others).toEqual([]);
});

it("refuses extraction rules", async () => {
  expect(await problemsOf(`${VALID}, extract: { title: "h1" }`)).toEqual([
    expect.stringMatching(/^extract: a spider has no rules; .*emit/),
  ]);
});

it("reports all problems at once", async () => {
  const keys = `start: "https://a.example/", page: 1, handlers: { a: 2 }, schema: 3, rate: "4/s", extract: {},
    follow: { depth: 3 }, limits: { pages: 0 }, politeness: { rate: "fast" }`;

  expect(await problemsOf(keys)).toEqual([
    "the spider has no name",
    expect.stringMatching(/^the spider has no start URLs/),
    expect.stringMatching(/^the spider has no page handler/),
    "handlers.a is not a function",
    expect.stringMatching(/^the schema of the spider is not a Standard Schema/),
    expect.stringMatching(/^extract: /),
    expect.stringMatching(/^unknown key rate; rate: did you mean politeness\.rate\?/),
    expect.stringMatching(/^unknown key depth in follow; depth: did you mean follow\.maxDepth\?/),
    expect.stringMatching(/^politeness\.rate: .*"fast"/),
    "limits.pages: takes at least 1",
  ]);
});

it("names the position of an invalid start URL", async () => {
  expect(await problemsOf('name: "x", start: ["https://a.example/", 7], page() {}')).toEqual([
    'start.1: takes a URL, or a request such as { "url": "https://a.example/", "json": {} }',
  ]);
});
