/** The short form of rules on the command line: `-e 'price=.price|number!'`. See docs/extraction.md. */
import { TrawlError } from "../errors.ts";
import { compileCss } from "./css-selector.ts";
import { EACH, FIELD_TYPES, type FieldType, nameProblem, type Rule, type RuleDetail, type Rules } from "./rules.ts";
import { compileSource } from "./source.ts";

/**
 * Rules from flags of the form `name=source`, `name[]=source` for a list, each with `|type`, `!` (required) or both at
 * the end, and `$each=selector`. All of it is checked, selectors too.
 *
 * @throws TrawlError BAD_JOB or BAD_SELECTOR naming the flag and what to change.
 */
export function parseRuleFlags(flags: readonly string[]): { rules: Rules } {
  const rules = new Map<string, Rule>();
  for (const flag of flags) {
    const { name, rule } = parseFlag(flag);
    if (rules.has(name)) throw badFlag(flag, `there are two rules for "${name}"`, "name one of them otherwise");
    rules.set(name, rule);
  }
  if (rules.has(EACH) && rules.size === 1) {
    throw badFlag(`${EACH}=${rules.get(EACH)}`, "there is no field to read from each element", "add -e name=selector");
  }
  return { rules: Object.fromEntries(rules) };
}

const EXAMPLE = "write -e name=selector, such as -e 'price=.price|number'";

function parseFlag(flag: string): { name: string; rule: Rule } {
  // A name holds no "=", a selector may: the first one parts them.
  const parted = /^([^=]*)=(.*)$/s.exec(flag);
  if (parted === null) throw badFlag(flag, 'it has no "="', EXAMPLE);
  const [, left = "", right = ""] = parted;
  if (left.trim() === EACH) return { name: EACH, rule: checkedSelector(flag, right.trim()) };
  const list = left.trim().endsWith("[]");
  const name = (list ? left.trim().slice(0, -2) : left).trim();
  const problem = nameProblem(name);
  if (problem !== undefined) throw badFlag(flag, problem, EXAMPLE);
  return { name, rule: shortest({ ...parseSourceText(flag, right.trim()), ...(list && { list }) }) };
}

/**
 * Reads from the end, because `|` and `=` may stand in the selector too: only a word after the last `|`, with nothing
 * behind it but `!`, is a type. No selector ends in a bare word after a `|`, or in `!`.
 */
function parseSourceText(flag: string, text: string): RuleDetail {
  const required = text.endsWith("!");
  const body = (required ? text.slice(0, -1) : text).trimEnd();
  const typed = /^(.*)\|\s*(\w*)$/s.exec(body);
  const select = (typed?.[1] ?? body).trim();
  const type = typed === null ? undefined : knownType(flag, typed[2] ?? "");
  if (select === "") throw badFlag(flag, "it has no selector", EXAMPLE);
  compileSource(select, owner(flag));
  return { select, ...(type !== undefined && { type }), ...(required && { required }) };
}

function knownType(flag: string, word: string): FieldType {
  const type = FIELD_TYPES.find((known) => known === word);
  if (type !== undefined) return type;
  throw badFlag(flag, `"${word}" is not a type`, `use one of ${FIELD_TYPES.join(", ")} after "|"`);
}

function checkedSelector(flag: string, selector: string): string {
  if (selector === "") throw badFlag(flag, "it has no selector", `write -e '${EACH}=.product'`);
  compileCss(selector, owner(flag));
  return selector;
}

/** The form a person would write in JSON. */
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
