/** Assigns the validation errors of a response to the fields of a form. */
import { isApiError } from "../../../src/client/api-error.ts";
import { withoutRequestPart } from "./problem.tsx";

export type FieldProblems = {
  /** The messages for a path, such as `extract.price`, and everything below it. */
  at(path: string): string | undefined;
  /** The messages for exactly this path. */
  own(path: string): string | undefined;
  /** Whether `at` returns a message. The message still counts as not shown. */
  has(path: string): boolean;
  /** The error, if a part of it belongs to no field. Read it after all calls of `at`. */
  rest: unknown;
  isEmpty: boolean;
};

const CODES = ["BAD_REQUEST", "BAD_JOB", "BAD_SELECTOR", "BAD_URL", "BAD_SCHEDULE"];
/** A line such as `extract.price: …` */
const FIELD_MESSAGE = /^([\w$.[\]" -]+?): (.*)$/s;

/** Advice for API clients that does not apply to a form. */
const FOR_PROGRAMS = /, or set open: true and send them to .*$/s;

export function problemsOf(error: unknown): FieldProblems {
  const found = isApiError(error, ...CODES) ? fieldMessages(error) : [];
  const used = new Set<string>();
  const below = (path: string) => found.filter((one) => one.path === path || one.path.startsWith(`${path}.`));
  const show = (path: string, here: readonly FieldMessage[]) => {
    for (const { message } of here) used.add(message);
    return here.length === 0 ? undefined : here.map((one) => textAt(one, path)).join("; ");
  };
  return {
    at: (path) => show(path, below(path)),
    own: (path) =>
      show(
        path,
        found.filter((one) => one.path === path),
      ),
    has: (path) => below(path).length > 0,
    get rest() {
      const isAllPlaced = found.length > 0 && found.every(({ message }) => used.has(message));
      return isAllPlaced ? undefined : error;
    },
    isEmpty: error === undefined,
  };
}

/** The problems of both; at the same path, the message of `one` wins. */
export function mergeProblems(one: FieldProblems, other: FieldProblems): FieldProblems {
  return {
    at(path) {
      const [first, second] = [one.at(path), other.at(path)];
      return first ?? second;
    },
    own(path) {
      const [first, second] = [one.own(path), other.own(path)];
      return first ?? second;
    },
    has: (path) => one.has(path) || other.has(path),
    get rest() {
      return one.rest ?? other.rest;
    },
    isEmpty: one.isEmpty && other.isEmpty,
  };
}

type FieldMessage = { path: string; message: string };

function textAt({ path, message }: FieldMessage, at: string): string {
  const text = message.replace(FOR_PROGRAMS, "");
  return path === at ? text : `${path.slice(at.length + 1)}: ${text}`;
}

type ErrorParts = { message: string; problem: Readonly<Record<string, unknown>> };

function fieldMessages({ message, problem }: ErrorParts): FieldMessage[] {
  const owner = typeof problem.owner === "string" ? problem.owner : undefined;
  if (owner !== undefined) return [{ path: pathOfOwner(owner), message: withoutOwner(message, owner) }];
  if (typeof problem.field === "string") return [{ path: `extract.${problem.field}`, message }];
  const lines = Array.isArray(problem.problems) ? problem.problems.map(String) : message.split("\n");
  return lines.flatMap((line) => {
    const [, path, text] = FIELD_MESSAGE.exec(withoutRequestPart(line)) ?? [];
    return path === undefined || text === undefined ? [] : [{ path, message: text }];
  });
}

/** The error of a selector names its owner: `field "price"`, `follow.links`, `"$each"`. */
function pathOfOwner(owner: string): string {
  const field = /^field (".*")$/s.exec(owner)?.[1];
  if (field !== undefined) return `extract.${JSON.parse(field) as string}`;
  return owner === '"$each"' ? "extract.$each" : owner;
}

function withoutOwner(message: string, owner: string): string {
  return message.startsWith(`${owner}: `) ? message.slice(owner.length + 2) : message;
}
