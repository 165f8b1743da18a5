/** Checks that JSON has a shape the form can show. The server validates the values. */
import type { JobInput } from "../../../../src/client/client.ts";

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string";
const isTexts: Check = (value) => Array.isArray(value) && value.every(isText);
const isObject: Check = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isRule: Check = (value) => {
  if (Array.isArray(value)) return value.length === 1 && !Array.isArray(value[0]) && isRule(value[0]);
  return isText(value) || (isObject(value) && isText((value as { select?: unknown }).select));
};
const isRules: Check = (value) => isObject(value) && Object.values(value as object).every(isRule);

const SHAPES: Readonly<Record<string, { fits: Check; expected: string }>> = {
  name: { fits: isText, expected: "a string" },
  urls: { fits: isUrls, expected: "a list of URLs" },
  spider: { fits: isText, expected: "a string" },
  queue: { fits: isText, expected: "a string" },
  render: { fits: isText, expected: "a string" },
  follow: { fits: isFollow, expected: 'an object such as { "links": "a[href]", "include": ["**/x/**"] }' },
  extract: { fits: isRules, expected: 'an object such as { "title": "h1" } or { "title": { "select": "h1" } }' },
  politeness: { fits: isObject, expected: 'an object such as { "rate": "4/s" }' },
  limits: { fits: isObject, expected: 'an object such as { "pages": 100 }' },
  keep: { fits: isObject, expected: 'an object such as { "bodies": true }' },
  browser: { fits: isObject, expected: 'an object such as { "screenshot": true }' },
  sitemaps: {
    fits: isSitemaps,
    expected: 'true, a list of URLs, or an object such as { "from": true, "since": "7d" }',
  },
  headers: { fits: isObject, expected: 'an object such as { "accept-language": "de" }' },
  sessions: { fits: isObject, expected: 'an object such as { "count": 5 }' },
  login: { fits: isLogin, expected: 'an object such as { "url": "https://…", "form": { "user": "…" } }' },
  proxy: { fits: isProxy, expected: 'an object such as { "use": ["dc"] }' },
  retries: { fits: isObject, expected: 'an object such as { "max": 4 }' },
};

/** The error message; undefined if the shape is valid. */
export function shapeProblem(value: unknown): string | undefined {
  if (!isObject(value)) return "The job must be a JSON object: { … }";
  const wrong = Object.entries(value as object).find(([key, part]) => SHAPES[key]?.fits(part) === false);
  return wrong === undefined ? undefined : `${wrong[0]}: must be ${SHAPES[wrong[0]]?.expected}`;
}

export function readJob(text: string): { job: JobInput } | { problem: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
  const problem = shapeProblem(value);
  return problem === undefined ? { job: value as JobInput } : { problem };
}

function isUrls(value: unknown): boolean {
  const isUrl: Check = (one) => isText(one) || (isObject(one) && isText((one as { url?: unknown }).url));
  return Array.isArray(value) && value.every(isUrl);
}

function isFollow(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { links, include, exclude } = value as Record<string, unknown>;
  return (links === undefined || isText(links)) && [include, exclude].every((one) => one === undefined || isTexts(one));
}

function isSitemaps(value: unknown): boolean {
  const isSource = (from: unknown) => from === true || isTexts(from);
  return isSource(value) || (isObject(value) && isSource((value as { from?: unknown }).from));
}

function isLogin(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { fields, form, check, expired } = value as Record<string, unknown>;
  return [fields, form, check, expired].every((part) => part === undefined || isObject(part));
}

function isProxy(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { use, then: fallbacks } = value as Record<string, unknown>;
  return (use === undefined || use === "none" || isTexts(use)) && (fallbacks === undefined || isTexts(fallbacks));
}
