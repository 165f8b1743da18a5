/** Whether JSON has the shape that the form can show. What its values may be is for the server to say. */
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

const SHAPES: Readonly<Record<string, { fits: Check; takes: string }>> = {
  name: { fits: isText, takes: "a text" },
  urls: { fits: isTexts, takes: "a list of URLs" },
  spider: { fits: isText, takes: "a text" },
  queue: { fits: isText, takes: "a text" },
  render: { fits: isText, takes: "a text" },
  follow: { fits: isFollow, takes: '{ "links": "a[href]", "include": ["**/x/**"] }' },
  extract: { fits: isRules, takes: '{ "title": "h1" }, with selectors or { "select": … }' },
  politeness: { fits: isObject, takes: '{ "rate": "4/s" }' },
  limits: { fits: isObject, takes: '{ "pages": 100 }' },
  keep: { fits: isObject, takes: '{ "bodies": true }' },
  browser: { fits: isObject, takes: '{ "screenshot": true }' },
};

/** What is wrong with it, if anything. */
export function shapeProblem(value: unknown): string | undefined {
  if (!isObject(value)) return "A job is an object: { … }";
  const wrong = Object.entries(value as object).find(([key, part]) => SHAPES[key]?.fits(part) === false);
  return wrong === undefined ? undefined : `${wrong[0]}: takes ${SHAPES[wrong[0]]?.takes}`;
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

function isFollow(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { links, include, exclude } = value as Record<string, unknown>;
  return (links === undefined || isText(links)) && [include, exclude].every((one) => one === undefined || isTexts(one));
}
