/** Loads a spider module, and reports the problems of an invalid one. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { isTrawlError, TrawlError } from "../errors.ts";
import { loadModule } from "../runtime/load-module.ts";
import { jobSchema } from "../submit/job-schema.ts";
import { parseJob } from "../submit/resolve-job.ts";
import { adviceText, keyPaths } from "../submit/schema-errors.ts";
import type { Spider } from "./define-spider.ts";

const OWN_KEYS = new Set(["start", "page", "handlers", "schema"]);
/** A spider also accepts the keys of a job, except those that it replaces. */
const REPLACED_KEYS = ["urls", "spider", "extract"];
const KEY_PATHS = [
  ...OWN_KEYS,
  ...keyPaths(jobSchema).filter((path) => !REPLACED_KEYS.includes(path.split(".")[0] ?? "")),
];
const SPIDER_KEYS = KEY_PATHS.filter((path) => !path.includes("."));

export async function loadSpider(path: string): Promise<Spider> {
  const full = resolve(path);
  if (!existsSync(full)) throw bad(path, "there is no such file; give the path of a module that exports a spider");
  const loaded = await loadModule(full, (cause) => bad(path, `it cannot be loaded: ${cause.message}`, cause));
  const spider = loaded.default;
  const problems = spiderProblems(spider);
  if (problems.length > 0) throw bad(path, problems.join("\n"));
  return spider as Spider;
}

/** The job that a spider describes, before validation. */
export function jobOfSpider(spider: Spider, path: string): unknown {
  const rest = Object.fromEntries(Object.entries(spider).filter(([key]) => !OWN_KEYS.has(key)));
  const isOwnLogin = typeof spider.login === "function";
  // A login needs a session. The worker calls the function of the spider.
  const session = isOwnLogin ? { login: undefined, sessions: spider.sessions ?? {} } : {};
  return { ...rest, ...session, urls: [...spider.start], spider: resolve(path) };
}

/** All problems of a spider, one line each. */
function spiderProblems(spider: unknown): string[] {
  // For a module without a default export, the loader returns the module itself, which has none of these keys.
  if (typeof spider !== "object" || spider === null || !["name", "start", "page"].some((key) => key in spider))
    return ["it must export default defineSpider({ name, start, page })"];
  const { name, start, page, handlers, schema } = spider as Partial<Spider>;
  const isSchema = schema === undefined || typeof schema["~standard"]?.validate === "function";
  const notFunctions = Object.entries(handlers ?? {}).filter(([, handler]) => typeof handler !== "function");
  return [
    ...(isName(name) ? [] : ["the spider has no name"]),
    ...(isStart(start) || hasSitemaps(spider) ? [] : ['the spider has no start URLs (start: ["https://…"])']),
    ...(typeof page === "function" ? [] : ["the spider has no page handler (async page({ $, emit, follow }) { … })"]),
    ...notFunctions.map(([key]) => `handlers.${key} is not a function`),
    ...(isSchema ? [] : ["the schema of the spider is not a Standard Schema (zod, valibot and arktype schemas are)"]),
    ...keyProblems(spider),
    ...settingProblems(spider as Partial<Spider>),
  ];
}

function isName(name: unknown): name is string {
  return typeof name === "string" && name !== "";
}

/** A spider may start with the pages of sitemaps only. */
function hasSitemaps(spider: object): boolean {
  const { start, sitemaps } = spider as Partial<Spider>;
  return Array.isArray(start) && sitemaps !== undefined && sitemaps !== true;
}

function isStart(start: unknown): start is readonly unknown[] {
  return Array.isArray(start) && start.length > 0;
}

const RULES_PROBLEM =
  "extract: a spider has no rules; read the page in a handler, and call emit({ … }) for each record";

function keyProblems(spider: object): string[] {
  const unknown = Object.keys(spider).filter((key) => !SPIDER_KEYS.includes(key) && key !== "extract");
  const advice = adviceText(unknown, "", { known: SPIDER_KEYS, all: KEY_PATHS });
  return [
    ...("extract" in spider ? [RULES_PROBLEM] : []),
    ...(unknown.length === 0 ? [] : [`unknown key ${unknown.join(", ")}${advice}`]),
  ];
}

/** The problems of the settings that a spider shares with a job. */
function settingProblems({ name, start, ...rest }: Partial<Spider>): string[] {
  const known = Object.fromEntries(Object.entries(rest).filter(([key]) => SPIDER_KEYS.includes(key)));
  const named = isName(name) ? { name } : {};
  const job = jobOfSpider({ ...known, ...named, start: isStart(start) ? start : [] } as Spider, "");
  try {
    parseJob(job);
    return [];
  } catch (error) {
    if (!isTrawlError(error, "BAD_JOB")) throw error;
    // The URLs of the job are the start URLs of the spider.
    return error.message.split("\n").map((line) => line.replace(/^urls(?=[.:])/, "start"));
  }
}

function bad(path: string, problem: string, cause?: unknown): TrawlError {
  return new TrawlError("BAD_SPIDER", { op: "spider.load", message: `${path}: ${problem}`, detail: { path }, cause });
}
