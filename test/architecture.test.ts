/** Holds the house together: which folder may import which, and a few rules that no linter knows. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const SRC = resolve(import.meta.dirname, "../src");

/**
 * What each folder may import of ours besides itself. A contract is a file that names no implementation; folders that
 * implement one import it, and never a sibling that implements another.
 */
const MAY_IMPORT: Record<string, readonly string[]> = {
  domain: [],
  "errors.ts": [],
  "version.ts": [],
  runtime: ["errors.ts"],
  config: ["domain", "errors.ts", "runtime"],
  frontier: ["domain", "errors.ts", "runtime"],
  fetch: ["domain", "errors.ts", "runtime", "frontier/frontier.ts"],
  extract: ["domain", "errors.ts"],
  store: ["domain", "errors.ts", "runtime"],
  submit: ["domain", "errors.ts", "config/schema.ts", "extract/rules.ts", "frontier/frontier.ts"],
  discover: ["domain", "submit/job-spec.ts"],
  schedule: [
    "domain",
    "errors.ts",
    "runtime",
    "config/schema.ts",
    "frontier/frontier.ts",
    "frontier/frontier-admin.ts",
    "store/schedule-book.ts",
    "store/store.ts",
    "submit",
    "webhook/note-webhook.ts",
  ],
  webhook: [
    "domain",
    "errors.ts",
    "runtime",
    "config/schema.ts",
    "fetch/poster.ts",
    "frontier/frontier.ts",
    "frontier/frontier-admin.ts",
    "store/export/record-line.ts",
    "store/store.ts",
    "store/webhook-book.ts",
    "submit",
  ],
  retain: [
    "domain",
    "errors.ts",
    "runtime",
    "frontier/frontier-admin.ts",
    "frontier/job-missing.ts",
    "store/bodies/bodies.ts",
    "store/history-book.ts",
    "store/job-archive.ts",
    "submit/masked-secrets.ts",
  ],
  trace: [
    "domain",
    "errors.ts",
    "runtime",
    "frontier/frontier-admin.ts",
    "retain/catalogue.ts",
    "store/store.ts",
    "submit/job-spec.ts",
  ],
  spider: ["domain", "errors.ts", "runtime", "discover/discover.ts", "submit", "worker/plan.ts"],
  worker: [
    "domain",
    "errors.ts",
    "runtime",
    "discover",
    "extract/extractor.ts",
    "fetch/fetcher.ts",
    "fetch/robots.ts",
    "frontier/frontier.ts",
    "frontier/frontier-admin.ts",
    "spider/define-spider.ts",
    "store/bodies/bodies.ts",
    "store/history-book.ts",
    "store/page-memory.ts",
    "store/store.ts",
    "submit/job-spec.ts",
  ],
  api: [
    "domain",
    "errors.ts",
    "version.ts",
    "runtime",
    "config/key-list.ts",
    "config/schema.ts",
    "frontier/frontier.ts",
    "frontier/frontier-admin.ts",
    "frontier/job-missing.ts",
    "frontier/order-workers.ts",
    "frontier/worker-facts.ts",
    "retain",
    "schedule",
    "store/bodies/bodies.ts",
    "store/export",
    "store/scan.ts",
    "store/history-book.ts",
    "store/job-owners.ts",
    "store/key-book.ts",
    "store/schedule-book.ts",
    "store/store.ts",
    "store/webhook-book.ts",
    "submit",
    "trace",
    "webhook",
  ],
  // Types alone: see below.
  client: [
    "api/change-job.ts",
    "api/routes/scrape.ts",
    "api/wire-fleet.ts",
    "api/wire-history.ts",
    "api/wire-keys.ts",
    "api/wire-schedules.ts",
    "api/wire-trace.ts",
    "api/wire-sites.ts",
    "api/wire-types.ts",
    "api/wire-webhooks.ts",
    "schedule/schedule-schema.ts",
    "submit/job-schema.ts",
  ],
  demo: ["errors.ts"],
  "index.ts": ["domain", "errors.ts", "spider", "submit/job-schema.ts"],
};

/** These see everything: the composition root, and the command line on top of it. */
const UNBOUND = [
  "compose.ts",
  "compose-worker.ts",
  "compose-extractor.ts",
  "compose-bodies.ts",
  "compose-schedules.ts",
  "compose-retention.ts",
  "compose-api.ts",
  "compose-tracing.ts",
  "cli",
];

const files = readdirSync(SRC, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => ({ name, text: readFileSync(join(SRC, name), "utf8") }));
const product = files.filter(({ name }) => !name.endsWith(".test.ts"));

describe("the architecture", () => {
  it("has a rule for every folder of src", () => {
    const folders = new Set(files.map(({ name }) => folderOf(name)));

    expect([...folders].filter((folder) => !(folder in MAY_IMPORT) && !UNBOUND.includes(folder))).toEqual([]);
  });

  it("lets imports point one way only", () => {
    const wrong = product.flatMap(({ name, text }) =>
      importsOf(text)
        .filter((path) => path.startsWith("."))
        .map((path) => relative(SRC, resolve(SRC, dirname(name), path)))
        .filter((target) => !mayImport(name, target))
        .map((target) => `${name} imports ${target}`),
    );

    expect(wrong).toEqual([]);
  });

  it("keeps one frontier backend from another, and contracts from implementations", () => {
    const wrong = product
      .filter(
        ({ name }) => /^frontier\/[^/]+\.ts$/.test(name) || name === "store/store.ts" || name === "fetch/fetcher.ts",
      )
      .flatMap(({ name, text }) =>
        importsOf(text)
          .filter((path) => /sqlite|redis|http\//.test(path))
          .map((path) => `${name}: ${path}`),
      );

    expect(wrong).toEqual([]);
  });

  it("reads the environment only in config, and listens to signals only in cli", () => {
    const env = product.filter(({ name, text }) => /\bprocess\.env\b/.test(text) && folderOf(name) !== "config");
    const signals = product.filter(({ name, text }) => /\bprocess\.on\(/.test(text) && folderOf(name) !== "cli");

    expect([...env, ...signals].map(({ name }) => name)).toEqual([]);
  });

  it("has no barrel but index.ts, no default export, no file over 400 lines", () => {
    const barrels = product.filter(
      ({ name, text }) => name !== "index.ts" && /^export (\*|\{[^}]*\}) from/m.test(text),
    );
    const defaults = product.filter(({ text }) => /^export default/m.test(text));
    const long = product.filter(({ text }) => text.split("\n").length > 400);

    expect([...barrels, ...defaults, ...long].map(({ name }) => name)).toEqual([]);
  });

  it("starts a command with little: what takes long to load is loaded by what needs it", () => {
    expect(packagesLoadedWith("cli/run.ts")).toEqual(["commander", "picocolors"]);
    expect(packagesLoadedWith("compose.ts")).toEqual([]);
    expect(packagesLoadedWith("config/load.ts")).toEqual([]);
    expect(packagesLoadedWith("compose-worker.ts")).toContain("undici"); // or the look itself would see nothing
  });

  it("has a client that runs where there is nothing but fetch", () => {
    const runtime = product
      .filter(({ name }) => folderOf(name) === "client")
      .flatMap(({ text }) => [...text.matchAll(/^(?:import|\} from) (?!type )(?:[^"]* from )?"([^"]+)"/gm)])
      .map(([, path = ""]) => path);

    expect(runtime.filter((path) => !path.startsWith("./"))).toEqual([]);
  });

  it("has a dashboard that runs on the client alone, and makes no markup of text", () => {
    const folder = resolve(SRC, "../dashboard/src");
    const parts = readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => /\.tsx?$/.test(name) && !name.endsWith(".test.ts"))
      .map((name) => ({ name, text: readFileSync(join(folder, name), "utf8") }));
    const ours = parts.flatMap(({ name, text }) =>
      [...text.matchAll(/^(?:import|\} from) (?!type )(?:[^"]* from )?"([^"]+)"/gm)]
        .map(([, path = ""]) => (path.startsWith(".") ? relative(SRC, resolve(folder, dirname(name), path)) : path))
        .filter((path) => !path.startsWith("../dashboard/"))
        .map((path) => path.replace(/^client\/.*/, "client")),
    );

    const allowed = /^(client|preact|preact\/hooks|@preact\/signals|uplot|uplot\/dist\/uPlot\.min\.css)$/;
    expect(ours.filter((path) => !allowed.test(path))).toEqual([]);
    const markup = parts.filter(({ text }) =>
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|srcdoc/i.test(text),
    );
    expect(markup.map(({ name }) => name)).toEqual([]);
  });

  it("goes out to the network through the egress gate alone", () => {
    // What listens, and asks nobody.
    const listening = ["cli/worker/metrics-listener.ts"];
    const reaching = product.filter(
      ({ name, text }) =>
        !listening.includes(name) && /\bfrom "(undici|node:https?|node:net|node:tls|node:dgram)"/.test(text),
    );

    expect(
      reaching.map(({ name }) => name).filter((name) => !name.startsWith("fetch/") && !name.startsWith("demo/")),
    ).toEqual([]);
  });
});

function folderOf(name: string): string {
  return name.split("/")[0] ?? name;
}

function mayImport(name: string, target: string): boolean {
  const folder = folderOf(name);
  if (UNBOUND.includes(folder) || folderOf(target) === folder) return true;
  return (MAY_IMPORT[folder] ?? []).some((allowed) => target === allowed || target.startsWith(`${allowed}/`));
}

/** Of other people's, those that a module needs before it runs: types are erased, and `import()` waits to be asked. */
function packagesLoadedWith(name: string, seen = new Set<string>()): string[] {
  if (seen.has(name)) return [];
  seen.add(name);
  const text = product.find((file) => file.name === name)?.text ?? "";
  const paths = [...text.matchAll(/^(?:import|\} from) (?!type )(?:[^"]* from )?"([^"]+)"/gm)].map(
    ([, path = ""]) => path,
  );
  const found = paths.flatMap((path) =>
    path.startsWith(".") ? packagesLoadedWith(relative(SRC, resolve(SRC, dirname(name), path)), seen) : [path],
  );
  return [...new Set(found)].filter((path) => !path.startsWith("node:")).sort();
}

function importsOf(text: string): string[] {
  return [...text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map((match) => match[1] ?? "");
}
