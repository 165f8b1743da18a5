/** Invalid input yields an error with a code, the cause and the fix, the right exit code, and no partial output. */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "vitest";
import { trawl } from "./cli.ts";
import { newFolder } from "./folder.ts";

/** No server listens on this port, and none of these commands connects to it. */
const URL = "http://127.0.0.1:9/";

type Case = {
  what: string;
  args: readonly string[];
  /** Files of the working folder. A name that ends in a slash is a folder. */
  files?: Readonly<Record<string, string>>;
  env?: Readonly<Record<string, string>>;
  exit: 2 | 3;
  /** The code, then the cause and the fix. */
  message: RegExp;
};

const USAGE: readonly Case[] = [
  { what: "no target", args: ["crawl"], exit: 2, message: /BAD_USAGE: nothing to crawl; pass a URL/ },
  { what: "an unknown command", args: ["crwal"], exit: 2, message: /BAD_USAGE: .*'crwal'\n.*crawl/ },
  {
    what: "an unknown flag",
    args: ["crawl", URL, "--folow", "x"],
    exit: 2,
    message: /BAD_USAGE: .*'--folow'\n.*--follow/,
  },
  { what: "one argument too many", args: ["jobs", "all"], exit: 2, message: /BAD_USAGE: too many arguments/ },
  { what: "a bad rate", args: ["crawl", URL, "--rate", "fast"], exit: 2, message: /BAD_JOB: .*rate: .*4\/s.*"fast"/ },
  {
    what: "a bad number",
    args: ["crawl", URL, "--max-pages", "zero"],
    exit: 2,
    message: /BAD_USAGE: .*--max-pages.*whole number/,
  },
  {
    what: "a number that is too small",
    args: ["crawl", URL, "--burst", "0"],
    exit: 2,
    message: /BAD_USAGE: .*--burst.*1 or more/,
  },
  {
    what: "an unknown scope",
    args: ["crawl", URL, "--scope", "moon"],
    exit: 2,
    message: /BAD_USAGE: .*'moon'.*site, domain, any/,
  },
  {
    what: "a header without a colon",
    args: ["crawl", URL, "--header", "cookie"],
    exit: 2,
    message: /BAD_USAGE: --header .*"cookie"/,
  },
  {
    what: "an unknown render mode",
    args: ["crawl", URL, "--render", "sometimes"],
    exit: 2,
    message: /BAD_USAGE: .*'sometimes'.*never, auto, always/,
  },
  {
    what: "nothing to resume",
    args: ["crawl", "--resume"],
    exit: 2,
    message: /NOTHING_TO_RESUME: .*trawl crawl <url>/,
  },
  {
    what: "an unknown job to resume",
    args: ["crawl", "--resume", "jnone"],
    exit: 2,
    message: /NOT_FOUND: no job jnone .*trawl jobs/,
  },
  {
    what: "records of an unknown job",
    args: ["records", "jnone"],
    exit: 2,
    message: /NOT_FOUND: no job jnone .*trawl jobs/,
  },
  {
    what: "an unknown job to pause",
    args: ["pause", "jnone"],
    exit: 2,
    message: /NOT_FOUND: no job jnone .*trawl jobs/,
  },
  {
    what: "an unknown job to explain",
    args: ["explain", "jnone"],
    exit: 2,
    message: /NOT_FOUND: no job, site or URL is named "jnone"; .*: npx trawl jobs/,
  },
  {
    what: "an unknown reason",
    args: ["dead", "--reason", "bad_luck"],
    exit: 2,
    message: /BAD_USAGE: --reason bad_luck .*http_status/,
  },
];

const TARGETS: readonly Case[] = [
  { what: "no URL at all", args: ["crawl", "http://"], exit: 2, message: /BAD_URL: "http:\/\/" .*absolute http/ },
  {
    what: "another scheme",
    args: ["crawl", "ftp://example.com/x"],
    exit: 2,
    message: /BAD_URL: "ftp:\/\/example\.com\/x" .*http/,
  },
  {
    what: "a URL without a scheme",
    args: ["crawl", "example.com"],
    exit: 2,
    message: /BAD_URL: "example\.com" .*did you mean: https:\/\/example\.com\/\n/,
  },
  {
    what: "an IP address without its scheme",
    args: ["crawl", "127.0.0.1:8321/a"],
    exit: 2,
    message: /BAD_URL: "127\.0\.0\.1:8321\/a" .*did you mean: http:\/\/127\.0\.0\.1:8321\/a\n/,
  },
  {
    what: "localhost without its scheme",
    args: ["crawl", "localhost:8321"],
    exit: 2,
    message: /BAD_URL: "localhost:8321" .*did you mean: http:\/\/localhost:8321\/\n/,
  },
  {
    what: "one bad URL among good ones",
    args: ["crawl", URL, "http://[::1"],
    exit: 2,
    message: /BAD_URL: "http:\/\/\[::1"/,
  },
  { what: "a bad URL to try", args: ["try", "nonsense"], exit: 2, message: /BAD_URL: "nonsense"/ },
  {
    what: "a bad selector",
    args: ["crawl", URL, "-e", "title=h1[["],
    exit: 2,
    message: /BAD_SELECTOR: .*title.*h1\[\[/,
  },
  { what: "a rule without a name", args: ["crawl", URL, "-e", "h1"], exit: 2, message: /BAD_\w+: .*h1/ },
  {
    what: "a bad selector to follow",
    args: ["crawl", URL, "--follow", "a[["],
    exit: 2,
    message: /BAD_SELECTOR: .*a\[\[/,
  },
  {
    what: "a bad selector to try",
    args: ["try", URL, "-e", "title=h1[["],
    exit: 2,
    message: /BAD_SELECTOR: .*title.*h1\[\[/,
  },
  {
    what: "a bad glob",
    args: ["crawl", URL, "--include", "{a"],
    exit: 2,
    message: /BAD_JOB: follow\.include.*unpaired/,
  },
  {
    what: "a job that is not JSON",
    args: ["crawl", "job.json"],
    files: { "job.json": "{ urls: [] " },
    exit: 2,
    message: /BAD_JOB: job\.json is not valid JSON/,
  },
  {
    what: "a job file that does not exist",
    args: ["crawl", "job.json"],
    exit: 2,
    message: /BAD_USAGE: cannot read job\.json/,
  },
  {
    what: "a list that does not exist",
    args: ["crawl", "urls.txt"],
    exit: 2,
    message: /BAD_USAGE: cannot read urls\.txt/,
  },
  {
    what: "an empty list",
    args: ["crawl", "urls.txt"],
    files: { "urls.txt": "# nothing\n\n" },
    exit: 2,
    message: /BAD_USAGE: nothing to crawl/,
  },
  {
    what: "a spider that does not exist",
    args: ["crawl", "spider.ts"],
    exit: 2,
    message: /BAD_SPIDER: spider\.ts: there is no such file/,
  },
  {
    what: "a spider that is a folder",
    args: ["crawl", "spider.ts"],
    files: { "spider.ts/": "" },
    exit: 2,
    message: /BAD_SPIDER: spider\.ts: /,
  },
  {
    what: "a spider with --follow",
    args: ["crawl", "spider.ts", "--follow", "none"],
    files: {
      "spider.ts":
        'export default { name: "s", start: ["http://127.0.0.1:1/"], follow: { scope: "any" }, page() {} };\n',
    },
    exit: 2,
    message: /BAD_USAGE: --follow is not allowed for a spider, whose handlers select the links/,
  },
  {
    what: "a spider with a syntax error",
    args: ["crawl", "spider.ts"],
    files: { "spider.ts": "export default {{{\n" },
    exit: 2,
    message: /BAD_SPIDER: spider\.ts: it cannot be loaded: \S/,
  },
  {
    what: "a spider that throws",
    args: ["crawl", "spider.ts"],
    files: { "spider.ts": 'throw new Error("not today");\n' },
    exit: 2,
    message: /BAD_SPIDER: spider\.ts: .*not today/,
  },
  {
    what: "a spider with a missing import",
    args: ["crawl", "spider.ts"],
    files: { "spider.ts": 'import "no-such-package";\n' },
    exit: 2,
    message: /BAD_SPIDER: spider\.ts: .*no-such-package/,
  },
  {
    what: "a spider without a default export",
    args: ["crawl", "spider.ts"],
    files: { "spider.ts": "export const spider = {};\n" },
    exit: 2,
    message: /BAD_SPIDER: spider\.ts: .*export default defineSpider/,
  },
  {
    what: "a spider without a page handler",
    args: ["crawl", "spider.ts"],
    files: { "spider.ts": `export default { name: "x", start: ["${URL}"] };\n` },
    exit: 2,
    message: /BAD_SPIDER: spider\.ts: .*page handler/,
  },
  {
    what: "a spider with several problems, which are all reported",
    args: ["crawl", "spider.ts"],
    files: { "spider.ts": `export default { start: ["${URL}"], page() {}, rate: "4/s", limits: { pages: 0 } };\n` },
    exit: 2,
    message: /BAD_SPIDER: spider\.ts: the spider has no name\n {2}unknown key rate; .*\n {2}limits\.pages: .*\n$/,
  },
  {
    what: "rules for a spider",
    args: ["crawl", "spider.ts", "-e", "title=h1"],
    files: { "spider.ts": `export default { name: "x", start: ["${URL}"], page() {} };\n` },
    exit: 2,
    message: /BAD_USAGE: -e is not allowed for a spider/,
  },
  {
    what: "a spider with an unknown key",
    args: ["crawl", "spider.ts"],
    files: { "spider.ts": `export default { name: "x", start: ["${URL}"], page() {}, pase: 1 };\n` },
    exit: 2,
    message: /BAD_SPIDER: spider\.ts: unknown key pase; pase: did you mean (page|parse)/,
  },
];

const SETTINGS: readonly Case[] = [
  {
    what: "an unknown setting",
    args: ["crawl", URL],
    files: { "trawl.config.ts": 'export default { rat: "2/s" };\n' },
    exit: 2,
    message: /BAD_CONFIG: .*trawl\.config\.ts: unknown setting rat, did you mean rate\?/,
  },
  {
    what: "a config file that does not compile",
    args: ["jobs"],
    files: { "trawl.config.ts": "export default {{\n" },
    exit: 2,
    message: /BAD_CONFIG: .*trawl\.config\.ts cannot be loaded/,
  },
  {
    what: "a config file without settings",
    args: ["jobs"],
    files: { "trawl.config.mjs": "export default 4;\n" },
    exit: 2,
    message: /BAD_CONFIG: .*trawl\.config\.mjs must have a default export/,
  },
  {
    what: "a bad value in the environment",
    args: ["jobs"],
    env: { TRAWL_CONCURRENCY: "many" },
    exit: 2,
    message: /BAD_CONFIG: environment: .*TRAWL_CONCURRENCY.*1 to 1000.*"many"/,
  },
  {
    what: "an unknown name in the environment",
    args: ["jobs"],
    env: { TRAWL_BROKR: "sqlite:x" },
    exit: 2,
    message: /BAD_CONFIG: environment: unknown setting TRAWL_BROKR, did you mean \S+\?/,
  },
  {
    what: "a bad network to allow",
    args: ["crawl", URL],
    env: { TRAWL_ALLOW_PRIVATE: "banana" },
    exit: 2,
    message: /BAD_CONFIG: TRAWL_ALLOW_PRIVATE: .*banana.*127\.0\.0\.0\/8/,
  },
  {
    what: "several problems, which are all reported",
    args: ["jobs"],
    env: { TRAWL_RATE: "fast", TRAWL_BURST: "0" },
    exit: 2,
    message: /BAD_CONFIG: (?=[\s\S]*TRAWL_RATE)(?=[\s\S]*TRAWL_BURST)/,
  },
  {
    what: "an unknown kind of broker",
    args: ["jobs", "--broker", "mongo://127.0.0.1"],
    exit: 2,
    message: /BAD_CONFIG: .*TRAWL_BROKER.*mongo.*sqlite:.*redis:/,
  },
];

const PATHS: readonly Case[] = [
  {
    what: "an output in a missing folder",
    args: ["crawl", URL, "--out", "no/where.jsonl"],
    exit: 2,
    message: /BAD_OUTPUT: output "no\/where\.jsonl".*folder no does not exist/,
  },
  {
    what: "an output that is a folder",
    args: ["crawl", URL, "--out", "x.jsonl"],
    files: { "x.jsonl/": "" },
    exit: 2,
    message: /BAD_OUTPUT: output "x\.jsonl".*folder: choose a file/,
  },
  {
    what: "an output with an unknown format",
    args: ["crawl", URL, "--out", "x.docx"],
    exit: 2,
    message: /BAD_OUTPUT: output x\.docx: .*jsonl.*csv/,
  },
  {
    what: "an output without a format",
    args: ["crawl", URL, "--out", "x"],
    exit: 2,
    message: /BAD_OUTPUT: output x: .*jsonl.*csv/,
  },
  {
    what: "records in a missing folder",
    args: ["records", "jnone", "--out", "no/where.csv"],
    exit: 2,
    message: /BAD_OUTPUT: output "no\/where\.csv"/,
  },
  {
    what: "a broker in a folder that is not writable",
    args: ["crawl", URL, "--broker", "sqlite:/sys/trawl/broker.db"],
    exit: 3,
    message: /BROKER_UNREACHABLE: broker \/sys\/trawl\/broker\.db: .*; \S/,
  },
  {
    what: "a broker that is a folder",
    args: ["crawl", URL, "--broker", "sqlite:box"],
    files: { "box/": "" },
    exit: 3,
    message: /BROKER_UNREACHABLE: broker box: .*not a folder/,
  },
  {
    what: "a broker in a folder that is a file",
    args: ["crawl", URL, "--broker", "sqlite:file/broker.db"],
    files: { file: "x" },
    exit: 3,
    message: /BROKER_UNREACHABLE: broker file\/broker\.db: .*file, not a folder/,
  },
  {
    what: "a broker that is not a SQLite file",
    args: ["crawl", URL, "--broker", "sqlite:b.db"],
    files: { "b.db": "garbage! ".repeat(500) },
    exit: 3,
    message: /BROKER_UNREACHABLE: broker b\.db: .*not a SQLite file/,
  },
  {
    what: "a store in a folder that is not writable",
    args: ["crawl", URL, "--store", "sqlite:/sys/trawl/store.db"],
    exit: 3,
    message: /STORE_UNREACHABLE: store \/sys\/trawl\/store\.db: .*; \S/,
  },
  {
    what: "a store that is a folder",
    args: ["crawl", URL, "--store", "sqlite:box"],
    files: { "box/": "" },
    exit: 3,
    message: /STORE_UNREACHABLE: store box: .*not a folder/,
  },
  {
    what: "a store that is not a SQLite file",
    args: ["crawl", URL, "--store", "sqlite:s.db"],
    files: { "s.db": "garbage! ".repeat(500) },
    exit: 3,
    message: /STORE_UNREACHABLE: store s\.db: .*not a SQLite file/,
  },
];

function folderWith(files: Readonly<Record<string, string>>, onFinished: (clear: () => void) => void): string {
  const folder = newFolder(onFinished);
  for (const [name, text] of Object.entries(files)) {
    if (name.endsWith("/")) mkdirSync(join(folder, name));
    else writeFileSync(join(folder, name), text);
  }
  return folder;
}

describe.each([
  { kind: "usage", cases: USAGE },
  { kind: "targets", cases: TARGETS },
  { kind: "settings", cases: SETTINGS },
  { kind: "paths", cases: PATHS },
])("invalid $kind", ({ cases }) => {
  it.concurrent.for(cases)(
    "is refused: $what",
    async ({ args, files = {}, env = {}, exit, message }, { expect, onTestFinished }) => {
      const cwd = folderWith(files, onTestFinished);
      const before = readdirSync(cwd, { recursive: true });
      const end = await trawl(args, { cwd, env });

      expect(end.stderr).toMatch(new RegExp(`^trawl: ${message.source}`));
      expect(end).toMatchObject({ code: exit, stdout: "" });
      const isOurs = (name: string) => name.startsWith(".trawl") || /\.db-(shm|wal)$/.test(name);
      const after = readdirSync(cwd, { recursive: true, encoding: "utf8" });
      expect(after.filter((name) => !isOurs(name)).sort()).toEqual(before.sort());
    },
  );
});
