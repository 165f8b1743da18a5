/** Tests the published package: its files, its types and its examples. */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { createDemoShop } from "../src/demo/demo-shop.ts";
import { ensureDist } from "./e2e/dist.ts";

const ROOT = resolve(import.meta.dirname, "..");
const run = promisify(execFile);
const SLOW_MS = 300_000;

const SPIDER = `
  import { defineSpider, type PageContext } from "trawl";
  import { z } from "zod";

  const product = z.object({ title: z.string(), price: z.number() });

  export default defineSpider({
    name: "shop",
    start: ["https://shop.example/"],
    politeness: { rate: "4/s" },
    schema: product,
    async page({ $, emit, follow, tab, signal }: PageContext<z.infer<typeof product>>) {
      emit({ title: $("h1").text(), price: Number($(".price").text()) });
      follow("page-2.html", { to: "list" });
      await tab?.title();
      signal.throwIfAborted();
    },
    handlers: { list: ({ follow }) => follow("a.next") },
  });`;

const CLIENT = `
  import { connect } from "trawl/client";

  export const jobs = connect("http://127.0.0.1:7700").jobs;`;

/** The strictest project of a user: no skipLibCheck, and no types that the package does not depend on. */
const SETTINGS = {
  compilerOptions: {
    ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, noEmit: true },
    ...{ module: "nodenext", target: "es2022", types: [] },
  },
  files: ["spider.ts", "client.ts", "node_modules/trawl/examples/shop.ts", "node_modules/trawl/examples/books.ts"],
};

/** Creates a project that contains only the packed package and its dependencies. */
async function installedProject(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "trawl-package-"));
  await run("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], { cwd: ROOT });
  const { version, dependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  await run("tar", ["-xzf", `trawl-${version}.tgz`], { cwd: folder });
  mkdirSync(join(folder, "node_modules"));
  renameSync(join(folder, "package"), join(folder, "node_modules/trawl"));
  for (const name of Object.keys(dependencies)) {
    mkdirSync(dirname(join(folder, "node_modules", name)), { recursive: true });
    symlinkSync(join(ROOT, "node_modules", name), join(folder, "node_modules", name));
  }
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  return folder;
}

describe("the published package", () => {
  let folder = "";

  beforeAll(async () => {
    await ensureDist();
    folder = await installedProject();
  }, SLOW_MS);

  it("compiles in a strict project with module nodenext and without skipLibCheck", { timeout: SLOW_MS }, async () => {
    writeFileSync(join(folder, "spider.ts"), SPIDER);
    writeFileSync(join(folder, "client.ts"), CLIENT);
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(SETTINGS));
    const tsc = join(ROOT, "node_modules/.bin/tsc");

    const { stdout } = await run(tsc, ["-p", "."], { cwd: folder }).catch(({ stdout }) => ({ stdout }));

    expect(stdout.slice(0, 2_000)).toBe("");
  });

  it("has examples that run", { timeout: SLOW_MS }, async () => {
    const shop = await createDemoShop({ port: 0 });
    const cli = "node_modules/trawl/dist/cli/main.js";
    const args = ["node_modules/trawl/examples/shop.ts", `${shop.url}/category/kitchen/`, "--handler", "category"];
    try {
      const { stdout } = await run(process.execPath, [cli, "try", ...args, "--json"], { cwd: folder });

      expect(JSON.parse(stdout).wanted[0]).toMatchObject({ handler: "product", carry: { category: "Kitchen" } });
    } finally {
      await shop.close();
    }
  });
});
