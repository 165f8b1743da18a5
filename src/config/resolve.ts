/** Merges settings from defaults, config file, environment and flags, in that order. Reports every problem at once. */
import { formatDuration } from "../domain/duration.ts";
import { editDistance } from "../domain/edit-distance.ts";
import { TrawlError } from "../errors.ts";
import { type Config, SETTINGS, type SettingName } from "./schema.ts";

/** One source of settings; an undefined value means that the source does not set it. */
export type SettingsSource = { from: string; values: Readonly<Record<string, unknown>> };

/**
 * Resolves all settings. If several sources set one, the last source wins. Throws BAD_CONFIG with one line per problem.
 */
export function resolveConfig(sources: readonly SettingsSource[]): Config {
  const problems: string[] = [];
  const resolved: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(SETTINGS)) resolved[name] = field.parse(field.default);
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
  const isConcurrencySet = sources.some(({ values }) => values.concurrency !== undefined);
  if (resolved.pool === "solo" && !isConcurrencySet) resolved.concurrency = 1;
  return Object.freeze(resolved) as Config;
}

/** Settings that are each valid but contradict each other. */
function conflictsOf({ timeLimitMs, softTimeLimitMs }: Config): string[] {
  // Without a soft limit, only the hard one applies.
  if (!Number.isFinite(softTimeLimitMs) || softTimeLimitMs <= timeLimitMs) return [];
  const [soft, hard] = [formatDuration(softTimeLimitMs), formatDuration(timeLimitMs)];
  return [
    `softTimeLimitMs (${SETTINGS.softTimeLimitMs.env}, --soft-time-limit) is ${soft}, longer than timeLimitMs (${SETTINGS.timeLimitMs.env}, --time-limit), which is ${hard}; set the soft limit to at most ${hard}, or remove it`,
  ];
}

/**
 * The TRAWL_* variables, by setting name. Unknown variables keep their name and are reported as problems, so that a
 * typo is not ignored.
 */
export function environmentSource(environment: Readonly<Record<string, string | undefined>>): SettingsSource {
  const names = new Map(Object.entries(SETTINGS).map(([name, field]) => [field.env, name]));
  const entries = Object.entries(environment).filter(([key]) => key.startsWith("TRAWL_") && !IGNORED.has(key));
  return {
    from: "environment",
    values: Object.fromEntries(entries.map(([key, value]) => [names.get(key) ?? key, value])),
  };
}

/** Variables that the tests and scripts of this repository read; they are not settings. */
const IGNORED = new Set(["TRAWL_SEED", "TRAWL_RUNS", "TRAWL_CHAOS_ROUNDS"]);

function readInto(resolved: Record<string, unknown>, name: string, raw: unknown): string | undefined {
  const field = Object.hasOwn(SETTINGS, name) ? SETTINGS[name as SettingName] : undefined;
  if (field === undefined) return `unknown setting ${name}${didYouMean(name)}; docs/config.md lists all settings`;
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
  const near = names.find((known) => editDistance(plain(known), plain(name)) <= 2);
  return near === undefined ? "" : `, did you mean ${near}?`;
}
