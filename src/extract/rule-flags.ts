/** The short form of rules on the command line: `-e 'price=.price|number!'`. See docs/extraction.md. */

import {
  EACH,
  FIELD_TYPES,
  type FieldType,
  type Rule,
  type RuleDetail,
  type Rules,
} from "../domain/extraction-rules.ts";
import { TrawlError } from "../errors.ts";
import { compileCss } from "./css-selector.ts";
import { isRegExp, nameProblem } from "./rules.ts";
import { compileSource } from "./source.ts";

/**
 * Parses flags of the form `name=source`, or `name[]=source` for a list. Modifiers may follow the source, in any order:
 * `|type`, `|match=/regex/`, `|default=value`, and at the end `!` for a required field. `$each=selector` has no
 * modifiers. Everything is validated, including selectors.
 *
 * @throws TrawlError BAD_JOB or BAD_SELECTOR with the flag and what to change.
 */
export function parseRuleFlags(flags: readonly string[]): { rules: Rules } {
  const rules = new Map<string, Rule>();
  for (const flag of flags) {
    const { name, rule } = parseFlag(flag);
    if (rules.has(name)) throw badFlag(flag, `there are two rules for "${name}"`, "rename one of them");
    rules.set(name, rule);
  }
  if (rules.has(EACH) && rules.size === 1) {
    throw badFlag(`${EACH}=${rules.get(EACH)}`, "there is no field to read from each element", "add -e name=selector");
  }
  return { rules: Object.fromEntries(rules) };
}

const EXAMPLE = "write -e name=selector, such as -e 'price=.price|number'";

function parseFlag(flag: string): { name: string; rule: Rule } {
  // A name cannot contain "=", so the first "=" ends the name. A selector may contain more.
  const parts = /^([^=]*)=(.*)$/s.exec(flag);
  if (parts === null) throw badFlag(flag, 'it has no "="', EXAMPLE);
  const [, left = "", right = ""] = parts;
  if (left.trim() === EACH) return { name: EACH, rule: checkedSelector(flag, right.trim()) };
  const list = left.trim().endsWith("[]");
  const name = (list ? left.trim().slice(0, -2) : left).trim();
  const problem = nameProblem(name);
  if (problem !== undefined) throw badFlag(flag, problem, EXAMPLE);
  return { name, rule: shortest({ ...parseSourceText(flag, right.trim(), list), ...(list && { list }) }) };
}

type Modifiers = { type?: FieldType; match?: string; default?: string };

/** Parses from the end, because a selector may contain `|`, `=` and `!` too. */
function parseSourceText(flag: string, text: string, list: boolean): RuleDetail {
  const required = text.endsWith("!");
  const modifiers: Modifiers = {};
  let select = (required ? text.slice(0, -1) : text).trimEnd();
  for (let last = findModifier(select); last !== undefined; last = findModifier(select)) {
    const [key, value] = readModifier(flag, last.text);
    if (modifiers[key] !== undefined) throw badFlag(flag, `it has two modifiers "${key}"`, "remove one of them");
    Object.assign(modifiers, { [key]: value });
    select = last.before.trimEnd();
  }
  if (select === "") throw badFlag(flag, "it has no selector", EXAMPLE);
  compileSource(select, owner(flag));
  const { default: fallback, ...rest } = modifiers;
  if (fallback === undefined) return { select, ...rest, ...(required && { required }) };
  if (required) throw badFlag(flag, '"!" and "default" contradict each other', "remove one of them");
  const value = defaultOf(flag, fallback, modifiers.type);
  return { select, ...rest, default: list ? [value] : value };
}

/**
 * The last modifier, if there is one. Its `|` is not inside quotes or brackets of the selector. A regular expression
 * may contain `|`, so its modifier starts at `|match=/`.
 */
function findModifier(source: string): { before: string; text: string } | undefined {
  const found = /^(.*)\|\s*(match\s*=\s*\/.*\/\w*|default\s*=[^|]*|\w*)$/s.exec(source);
  const [, before = "", text = ""] = found ?? [];
  return found === null || isOpen(before) ? undefined : { before, text: text.trim() };
}

/** Whether quotes or brackets are open at the end of a part of a selector. */
function isOpen(selector: string): boolean {
  let quote = "";
  let depth = 0;
  for (let at = 0; at < selector.length; at += 1) {
    const char = selector[at] ?? "";
    if (char === "\\") at += 1;
    else if (quote !== "") quote = char === quote ? "" : quote;
    // A string begins after "=", "(", "," or a space. Elsewhere, as in :contains(it's), a quote is a character.
    else if (/["']/.test(char) && /[=(,\s]/.test(selector[at - 1] ?? "")) quote = char;
    else if (char === "[" || char === "(") depth += 1;
    else if (char === "]" || char === ")") depth -= 1;
  }
  return quote !== "" || depth > 0;
}

function readModifier(flag: string, text: string): [key: keyof Modifiers, value: string] {
  const [, key = "", value = ""] = /^(match|default)\s*=\s*(.*)$/s.exec(text) ?? [];
  if (key === "default") return [key, value];
  if (key !== "match") return ["type", knownType(flag, text)];
  const [, pattern = "", options = ""] = /^\/(.*)\/(\w*)$/s.exec(value) ?? [];
  if (options !== "") throw badFlag(flag, `"${options}" after the "/" of match`, "regular expressions take no flags");
  if (!isRegExp(pattern)) throw badFlag(flag, `${value} is not a regular expression`, "write |match=/([0-9.]+)/");
  return [key, pattern];
}

/** Converts the default to the JSON type of the field. */
function defaultOf(flag: string, text: string, type: FieldType = "text"): RuleDetail["default"] & Scalar {
  const bad = (fix: string) => badFlag(flag, `the default ${JSON.stringify(text)} is not of type ${type}`, fix);
  if (type === "number" || type === "integer") {
    const isNumber = type === "number" ? Number.isFinite(Number(text)) : Number.isInteger(Number(text));
    if (text === "" || !isNumber) throw bad("write a number, such as |default=0");
    return Number(text);
  }
  if (type !== "boolean") return text;
  if (text !== "true" && text !== "false") throw bad("write |default=true or |default=false");
  return text === "true";
}

type Scalar = string | number | boolean;

function knownType(flag: string, word: string): FieldType {
  const type = FIELD_TYPES.find((known) => known === word);
  if (type !== undefined) return type;
  throw badFlag(
    flag,
    `"${word}" is not a type`,
    `use one of ${FIELD_TYPES.join(", ")}, match=/regex/ or default=value after "|"`,
  );
}

function checkedSelector(flag: string, selector: string): string {
  if (selector === "") throw badFlag(flag, "it has no selector", `write -e '${EACH}=.product'`);
  compileCss(selector, owner(flag));
  return selector;
}

/** The shortest form of the rule in JSON. */
function shortest(rule: RuleDetail): Rule {
  const { select, list, ...rest } = rule;
  if (Object.keys(rest).length > 0) return rule;
  return list === true ? [select] : select;
}

function owner(flag: string): string {
  return `-e ${JSON.stringify(flag)}`;
}

function badFlag(flag: string, problem: string, fix: string): TrawlError {
  return new TrawlError("BAD_JOB", {
    op: "extract.flags",
    message: `${owner(flag)}: ${problem}; ${fix}`,
    detail: { flag },
  });
}
