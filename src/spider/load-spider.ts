/** Loads a spider module, and reports the problems of an invalid one. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { isTrawlError, TrawlError } from "../errors.ts";
import { loadModule } from "../runtime/load-module.ts";
import { jobSchema } from "../submit/job-schema.ts";
import { parseJob } from "../submit/resolve-job.ts";
import { adviceText, similarKeys } from "../submit/schema-errors.ts";
import type { Spider } from "./define-spider.ts";

const OWN_KEYS = new Set(["start", "page", "handlers", "schema"]);
/** A spider also accepts the keys of a job, except those that it replaces. */
const SPIDER_KEYS = [...OWN_KEYS, ...Object.keys(jobSchema.shape).filter((key) => key !== "urls" && key !== "spider")];

export async function loadSpider(path: string): Promise<Spider> {
  const full = resolve(path);
  if (!existsSync(full)) throw bad(path, "there is no such file; give the path of a module that exports a spider");
  const loaded = await loadModule(full, (cause) => bad(path, `it cannot be loaded: ${cause.message}`, cause));
  const spider = loaded.default;
  const problem = spiderProblem(spider);
  if (problem !== undefined) throw bad(path, problem);
  return spider as Spider;
}

/** The job settings of a spider. */
export function jobOfSpider(spider: Spider, path: string): unknown {
  const rest = Object.fromEntries(Object.entries(spider).filter(([key]) => !OWN_KEYS.has(key)));
  return { ...rest, urls: [...spider.start], spider: resolve(path) };
}

function spiderProblem(spider: unknown): string | undefined {
  // For a module without a default export, the loader returns the module itself, which has none of these keys.
  if (typeof spider !== "object" || spider === null || !["name", "start", "page"].some((key) => key in spider))
    return "it must export default defineSpider({ name, start, page })";
  const { name, start, page, handlers = {}, schema } = spider as Partial<Spider>;
  if (typeof name !== "string" || name === "") return "the spider has no name";
  if (!Array.isArray(start) || start.length === 0) return 'the spider has no start URLs (start: ["https://…"])';
  if (typeof page !== "function") return "the spider has no page handler (async page({ $, emit, follow }) { … })";
  const invalid = Object.entries(handlers).find(([, handler]) => typeof handler !== "function");
  if (invalid !== undefined) return `handlers.${invalid[0]} is not a function`;
  if (schema !== undefined && typeof schema["~standard"]?.validate !== "function") {
    return "the schema of the spider is not a Standard Schema (zod, valibot and arktype schemas are)";
  }
  const unknown = Object.keys(spider).filter((key) => !SPIDER_KEYS.includes(key));
  if (unknown.length > 0) {
    const similar = unknown.flatMap((key) => similarKeys(key, "", SPIDER_KEYS));
    return `unknown key ${unknown.join(", ")}${adviceText(similar, SPIDER_KEYS)}`;
  }
  try {
    parseJob(jobOfSpider(spider as Spider, ""));
  } catch (error) {
    if (isTrawlError(error, "BAD_JOB")) return error.message;
    throw error;
  }
  return undefined;
}

function bad(path: string, problem: string, cause?: unknown): TrawlError {
  return new TrawlError("BAD_SPIDER", { op: "spider.load", message: `${path}: ${problem}`, detail: { path }, cause });
}
