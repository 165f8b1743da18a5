/** What the server finds wrong with what was typed, by the field that it is about. */
import { isApiError } from "../../../src/client/api-error.ts";
import { withoutPart } from "./problem.tsx";

export type Problems = {
  /** What is wrong at this path, or below it: `extract.price`. */
  at(path: string): string | undefined;
  /** What is left for the foot of the form; undefined where every word has found its field. */
  rest: unknown;
  isEmpty: boolean;
};

const CODES = ["BAD_REQUEST", "BAD_JOB", "BAD_SELECTOR", "BAD_URL", "BAD_SCHEDULE"];
/** `extract.price: …` */
const PLACED = /^([\w$.[\]" -]+?): (.*)$/s;

/** What a program may do instead is nothing to somebody at a form. */
const FOR_PROGRAMS = /, or open: true and send them to .*$/s;

export function problemsOf(error: unknown): Problems {
  const found = isApiError(error, ...CODES) ? placed(error) : [];
  const used = new Set<string>();
  return {
    at(path) {
      const here = found.filter((one) => one.path === path || one.path.startsWith(`${path}.`));
      for (const { words } of here) used.add(words);
      return here.length === 0 ? undefined : here.map((one) => said(one, path)).join("; ");
    },
    // Asked for after the fields have looked.
    get rest() {
      const isAllPlaced = found.length > 0 && found.every(({ words }) => used.has(words));
      return isAllPlaced ? undefined : error;
    },
    isEmpty: error === undefined,
  };
}

/** What either has found; the first has the first word. */
export function both(one: Problems, other: Problems): Problems {
  return {
    at(path) {
      const [first, second] = [one.at(path), other.at(path)];
      return first ?? second;
    },
    get rest() {
      return one.rest ?? other.rest;
    },
    isEmpty: one.isEmpty && other.isEmpty,
  };
}

type Placed = { path: string; words: string };

function said({ path, words: all }: Placed, at: string): string {
  const words = all.replace(FOR_PROGRAMS, "");
  return path === at ? words : `${path.slice(at.length + 1)}: ${words}`;
}

function placed({ message, problem }: { message: string; problem: Readonly<Record<string, unknown>> }): Placed[] {
  const owner = typeof problem.owner === "string" ? problem.owner : undefined;
  if (owner !== undefined) return [{ path: pathOfOwner(owner), words: withoutOwner(message, owner) }];
  if (typeof problem.field === "string") return [{ path: `extract.${problem.field}`, words: message }];
  const lines = Array.isArray(problem.problems) ? problem.problems.map(String) : message.split("\n");
  return lines.flatMap((line) => {
    const [, path, words] = PLACED.exec(withoutPart(line)) ?? [];
    return path === undefined || words === undefined ? [] : [{ path, words }];
  });
}

/** A selector says whose it is: `field "price"`, `follow.links`, `"$each"`. */
function pathOfOwner(owner: string): string {
  const field = /^field (".*")$/s.exec(owner)?.[1];
  if (field !== undefined) return `extract.${JSON.parse(field) as string}`;
  return owner === '"$each"' ? "extract.$each" : owner;
}

function withoutOwner(message: string, owner: string): string {
  return message.startsWith(`${owner}: `) ? message.slice(owner.length + 2) : message;
}
