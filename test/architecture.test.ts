/** Checks which folder of src may import which, and a few rules that the linter does not have. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const SRC = resolve(import.meta.dirname, "../src");

/**
 * The folders that each folder may import, besides itself. A contract is a file that imports no implementation. A
 * folder that implements a contract imports that contract, and no other implementation of it.
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
  submit: [
    "domain",
    "errors.ts",
    "config/schema.ts",
    "extract/rules.ts",
    "frontier/frontier.ts",
    "frontier/frontier-admin.ts",
    "store/bodies/bodies.ts",
  ],
  discover: ["domain"],
  session: ["domain", "errors.ts", "runtime", "frontier/frontier.ts"],
  schedule: [
    "domain",
    "errors.ts",
    "runtime",
    "config/schema.ts",
    "frontier/frontier.ts",
    "frontier/frontier-admin.ts",
    "store/bodies/bodies.ts",
    "store/schedule-store.ts",
    "store/store.ts",
    "submit",
    "webhook/register-webhook.ts",
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
    "store/webhook-store.ts",
    "submit",
  ],
  retain: [
    "domain",
    "errors.ts",
    "control/catalogue.ts",
    "runtime",
    "frontier/frontier-admin.ts",
    "frontier/job-errors.ts",
    "store/bodies/bodies.ts",
    "store/history-store.ts",
    "store/job-archive.ts",
    "submit/masked-secrets.ts",
  ],
  trace: [
    "domain",
    "errors.ts",
    "runtime",
    "control/catalogue.ts",
    "frontier/frontier-admin.ts",
    "frontier/worker-facts.ts",
    "store/store.ts",
    "submit/url-entry.ts",
  ],
  spider: ["domain", "errors.ts", "runtime", "discover/discover.ts", "submit"],
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
    "session",
    "spider/define-spider.ts",
    "spider/page-reader.ts",
    "spider/request-options.ts",
    "store/bodies/bodies.ts",
    "store/history-store.ts",
    "store/page-memory.ts",
    "store/store.ts",
    "submit/store-large-bodies.ts",
  ],
  control: [
    "domain",
    "errors.ts",
    "runtime",
    "frontier/frontier-admin.ts",
    "frontier/job-errors.ts",
    "frontier/worker-facts.ts",
    "schedule",
    "session/log-in.ts",
    "store/history-store.ts",
    "store/job-archive.ts",
    "store/job-owners.ts",
    "store/key-store.ts",
    "store/schedule-store.ts",
    "store/store.ts",
    "submit",
    "trace",
    "webhook/webhook-view.ts",
  ],
  api: [
    "domain",
    "errors.ts",
    "version.ts",
    "runtime",
    "config/key-list.ts",
    "config/schema.ts",
    "control",
    "frontier/frontier.ts",
    "frontier/frontier-admin.ts",
    "frontier/job-errors.ts",
    "frontier/worker-commands.ts",
    "frontier/worker-facts.ts",
    "retain",
    "schedule",
    "store/bodies/bodies.ts",
    "store/export",
    "store/scan.ts",
    "store/history-store.ts",
    "store/key-store.ts",
    "store/schedule-store.ts",
    "store/store.ts",
    "submit",
    "trace",
    "webhook",
  ],
  // Only types: see the test of the client below.
  client: ["api/wire", "control/change-job.ts", "control/views", "schedule/schedule-schema.ts", "submit/job-schema.ts"],
  demo: ["errors.ts"],
  "index.ts": ["domain", "errors.ts", "spider", "submit/job-schema.ts"],
};

/** The composition root and the command line may import everything. */
const UNRESTRICTED = ["compose", "cli"];

const files = readdirSync(SRC, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => ({ name, text: readFileSync(join(SRC, name), "utf8") }));
const product = files.filter(({ name }) => !name.endsWith(".test.ts"));

describe("the architecture", () => {
  it("has a rule for every folder of src", () => {
    const folders = new Set(files.map(({ name }) => folderOf(name)));

    expect([...folders].filter((folder) => !(folder in MAY_IMPORT) && !UNRESTRICTED.includes(folder))).toEqual([]);
  });

  it("has imports in one direction only", () => {
    const wrong = product.flatMap(({ name, text }) =>
      importsOf(text)
        .filter((path) => path.startsWith("."))
        .map((path) => relative(SRC, resolve(SRC, dirname(name), path)))
        .filter((target) => !mayImport(name, target))
        .map((target) => `${name} imports ${target}`),
    );

    expect(wrong).toEqual([]);
  });

  it("has no two folders that import each other", () => {
    const edges = new Set(
      product.flatMap(({ name, text }) =>
        importsOf(text)
          .filter((path) => path.startsWith("."))
          .map((path) => folderOf(relative(SRC, resolve(SRC, dirname(name), path))))
          .filter((folder) => folder !== folderOf(name))
          .map((folder) => `${folderOf(name)} ${folder}`),
      ),
    );
    const mutual = [...edges].filter((edge) => edges.has(edge.split(" ").reverse().join(" ")));

    // trace/ finds jobs in the catalogue of control/, and control/ shows traces.
    expect(mutual.sort()).toEqual(["control trace", "trace control"]);
  });

  it("keeps the command line independent of the HTTP server", () => {
    const wrong = product
      .filter(({ name }) => folderOf(name) === "cli")
      .flatMap(({ name, text }) =>
        importsOf(text)
          .filter((path) => path.startsWith("."))
          .map((path) => relative(SRC, resolve(SRC, dirname(name), path)))
          .filter((target) => folderOf(target) === "api")
          .map((target) => `${name} imports ${target}`),
      );

    expect(wrong).toEqual([]);
  });

  it("separates frontier backends, and contracts from implementations", () => {
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

  it("has no barrel file except index.ts, no default export, and no file over 400 lines", () => {
    const barrels = product.filter(
      ({ name, text }) => name !== "index.ts" && /^export (\*|\{[^}]*\}) from/m.test(text),
    );
    const defaults = product.filter(({ text }) => /^export default/m.test(text));
    const long = product.filter(({ text }) => text.split("\n").length > 400);

    expect([...barrels, ...defaults, ...long].map(({ name }) => name)).toEqual([]);
  });

  it("loads few packages when a command starts, and slow packages only when they are needed", () => {
    expect(packagesLoadedWith("cli/run.ts")).toEqual(["commander", "picocolors"]);
    expect(packagesLoadedWith("compose/app.ts")).toEqual([]);
    expect(packagesLoadedWith("config/load.ts")).toEqual([]);
    expect(packagesLoadedWith("compose/worker.ts")).toContain("undici"); // proves that the check finds packages at all
  });

  it("has a client that imports no package and no module of Node", () => {
    const runtime = product.filter(({ name }) => folderOf(name) === "client").flatMap(({ text }) => loadedBy(text));

    expect(runtime.filter((path) => !path.startsWith("./"))).toEqual([]);
  });

  it("has a dashboard that uses only the client, and never renders text as markup", () => {
    const folder = resolve(SRC, "../dashboard/src");
    const parts = readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => /\.tsx?$/.test(name) && !name.endsWith(".test.ts"))
      .map((name) => ({ name, text: readFileSync(join(folder, name), "utf8") }));
    const ours = parts.flatMap(({ name, text }) =>
      loadedBy(text)
        .map((path) => (path.startsWith(".") ? relative(SRC, resolve(folder, dirname(name), path)) : path))
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

  it("connects to the network only through the egress gate", () => {
    // These files only accept connections.
    const listeners = ["cli/worker/metrics-listener.ts"];
    const connecting = product.filter(
      ({ name, text }) =>
        !listeners.includes(name) && /\bfrom "(undici|node:https?|node:net|node:tls|node:dgram)"/.test(text),
    );

    expect(
      connecting.map(({ name }) => name).filter((name) => !name.startsWith("fetch/") && !name.startsWith("demo/")),
    ).toEqual([]);
  });
});

function folderOf(name: string): string {
  return name.split("/")[0] ?? name;
}

function mayImport(name: string, target: string): boolean {
  const folder = folderOf(name);
  if (UNRESTRICTED.includes(folder) || folderOf(target) === folder) return true;
  return (MAY_IMPORT[folder] ?? []).some((allowed) => target === allowed || target.startsWith(`${allowed}/`));
}

/** The packages that a module loads at import. Type imports are erased, and `import()` loads later. */
function packagesLoadedWith(name: string, seen = new Set<string>()): string[] {
  if (seen.has(name)) return [];
  seen.add(name);
  const text = product.find((file) => file.name === name)?.text ?? "";
  const found = loadedBy(text).flatMap((path) =>
    path.startsWith(".") ? packagesLoadedWith(relative(SRC, resolve(SRC, dirname(name), path)), seen) : [path],
  );
  return [...new Set(found)].filter((path) => !path.startsWith("node:")).sort();
}

/** Modules that are loaded with a file. Type imports are erased, and `import()` loads later. */
function loadedBy(text: string): string[] {
  return [...text.matchAll(/^(?:import|export) (?!type )(?:[\w$*\s,{}]+ from )?"([^"]+)"/gm)].map(
    ([, path = ""]) => path,
  );
}

function importsOf(text: string): string[] {
  return [...text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map((match) => match[1] ?? "");
}
