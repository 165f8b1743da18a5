/** Settings from their sources: defaults, then the config file, then the environment, then flags. Reports every problem at once. */
import { formatDuration } from "../domain/duration.ts";
import { TrawlError } from "../errors.ts";
import { type Config, SETTINGS, type SettingName } from "./schema.ts";

/** Where settings come from; a value that is undefined is not set there. */
export type Source = { from: string; values: Readonly<Record<string, unknown>> };

/** Later sources win. Throws BAD_CONFIG with one line a problem. */
export function resolveConfig(sources: readonly Source[]): Config {
  const problems: string[] = [];
  const resolved: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(SETTINGS)) resolved[name] = field.parse(field.shown);
  for (const { from, values } of sources) {
    for (const [name, raw] of Object.entries(values)) {
      if (raw === undefined) continue;
      const problem = readInto(resolved, name, raw);
      if (problem !== undefined) problems.push(`${from}: ${problem}`);
    }
  }
  problems.push(...conflictsOf(resolved as Config));
  if (problems.length > 0) {
    throw new TrawlError("BAD_CONFIG", { op: "config.resolve", message: problems.join("\n"), detail: { problems } });
  }
  const isChosen = sources.some(({ values }) => values.concurrency !== undefined);
  if (resolved.pool === "solo" && !isChosen) resolved.concurrency = 1;
  return Object.freeze(resolved) as Config;
}

/** Settings that are good by themselves, and not together. */
function conflictsOf({ timeLimitMs, softTimeLimitMs }: Config): string[] {
  // Without a soft limit, the hard one is it.
  if (!Number.isFinite(softTimeLimitMs) || softTimeLimitMs <= timeLimitMs) return [];
  const [soft, hard] = [formatDuration(softTimeLimitMs), formatDuration(timeLimitMs)];
  return [
    `softTimeLimitMs (${SETTINGS.softTimeLimitMs.env}, --soft-time-limit) is ${soft}, longer than timeLimitMs (${SETTINGS.timeLimitMs.env}, --time-limit), which is ${hard}; take at most ${hard}, or leave it out`,
  ];
}

/** The TRAWL_* variables of an environment, by setting. Unknown ones are problems: a misspelt setting is no setting. */
export function environmentSource(environment: Readonly<Record<string, string | undefined>>): Source {
  const names = new Map(Object.entries(SETTINGS).map(([name, field]) => [field.env, name]));
  const entries = Object.entries(environment).filter(([key]) => key.startsWith("TRAWL_") && !IGNORED.has(key));
  return {
    from: "environment",
    values: Object.fromEntries(entries.map(([key, value]) => [names.get(key) ?? key, value])),
  };
}

/** Read by the tests and tools of this repository, not settings. */
const IGNORED = new Set(["TRAWL_SEED", "TRAWL_RUNS", "TRAWL_CHAOS_ROUNDS"]);

function readInto(resolved: Record<string, unknown>, name: string, raw: unknown): string | undefined {
  const field = Object.hasOwn(SETTINGS, name) ? SETTINGS[name as SettingName] : undefined;
  if (field === undefined) return `unknown setting ${name}${didYouMean(name)}; docs/config.md lists them all`;
  const value = field.parse(raw);
  if (value === undefined) {
    if ("problemOf" in field) return field.problemOf(raw);
    const shown = field.isSecret ? "the value" : JSON.stringify(raw);
    return `${name} (${field.env}) takes ${field.takes}, not ${shown}`;
  }
  resolved[name] = value;
  return undefined;
}

function didYouMean(name: string): string {
  const plain = (text: string) => text.toLowerCase().replace(/^trawl_|[^a-z]/g, "");
  const names = Object.entries(SETTINGS).flatMap(([key, field]) => [key, field.env]);
  const near = names.find((known) => distance(plain(known), plain(name)) <= 2);
  return near === undefined ? "" : `, did you mean ${near}?`;
}

/** Edit distance, for words of a few letters. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const swap = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
