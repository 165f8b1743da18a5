/** Compiles the rules of fields. A compiled rule reads its field from a page and reports missing required fields. */

import type { Rule, RuleDetail, Rules } from "../domain/extraction-rules.ts";
import type { Fields } from "../domain/page.ts";
import { TrawlError } from "../errors.ts";
import { type Conversion, convertFound, writtenValue } from "./convert-value.ts";
import { compileCss } from "./css-selector.ts";
import { compileSource, type Found, isCssSource, type Scope, type Source } from "./source.ts";

export type FieldsReader = {
  usesTree: boolean;
  /**
   * Reads all fields. Adds a message to `problems` for each missing required field. `path` is the prefix of the field
   * names in these messages; it ends in a dot.
   */
  read(scope: Scope, problems: string[], path: string): Fields;
};

/** @throws TrawlError BAD_SELECTOR with the field, the selector and the problem. */
export function compileFields(rules: Rules, parent: string): FieldsReader {
  const readers = Object.entries(rules).map(([name, rule]) => compileField(name, fullRule(rule), parent));
  return {
    usesTree: readers.some(({ usesTree }) => usesTree),
    read: (scope, problems, path) =>
      Object.fromEntries(readers.map(({ name, read }) => [name, read(scope, problems, path + name)])),
  };
}

type FieldReader = {
  name: string;
  usesTree: boolean;
  read(scope: Scope, problems: string[], path: string): unknown;
};

function fullRule(rule: Rule): RuleDetail {
  if (typeof rule === "string") return { select: rule };
  return Array.isArray(rule) ? { ...fullRule(rule[0]), list: true } : rule;
}

function compileField(name: string, rule: RuleDetail, parent: string): FieldReader {
  const path = parent + name;
  return rule.fields === undefined ? compileValue(name, rule, path) : compileObject(name, rule, rule.fields, path);
}

function compileValue(name: string, rule: RuleDetail, path: string): FieldReader {
  const source = compileSource(rule.select, `field ${JSON.stringify(path)}`);
  const match = rule.match === undefined ? undefined : new RegExp(rule.match);
  const type = rule.type ?? (source.isTyped && match === undefined ? "json" : "text");
  const readValue = rule.list === true ? listReader(source, { type, match }) : firstReader(source, { type, match });

  function read(scope: Scope, problems: string[], at: string): unknown {
    const { value, isMissing, found } = readValue(scope);
    if (!isMissing) return value;
    if (rule.required === true) problems.push(missing(at, rule.select, type, found));
    return rule.default ?? value;
  }

  return { name, usesTree: source.usesTree, read };
}

/** If the field is missing, `value` is null, false or an empty list. */
type Reading = { value: unknown; isMissing: boolean; found: Found | undefined };

function firstReader(source: Source, conversion: Conversion): (scope: Scope) => Reading {
  const absent = conversion.type === "boolean" ? false : null;
  return (scope) => {
    const found = source.first(scope);
    const value = found === undefined ? null : convertFound(found, conversion, scope.view);
    return { value: value ?? absent, isMissing: value === null, found };
  };
}

function listReader(source: Source, conversion: Conversion): (scope: Scope) => Reading {
  return (scope) => {
    const all = source.all(scope);
    const value = all.map((found) => convertFound(found, conversion, scope.view)).filter((one) => one !== null);
    return { value, isMissing: value.length === 0, found: all[0] };
  };
}

const SAMPLE_CHARS = 80;

function missing(path: string, select: string, type: Conversion["type"], found: Found | undefined): string {
  const required = `field "${path}" is required, but ${JSON.stringify(select)}`;
  const written = found === undefined ? undefined : writtenValue(found, type)?.trim();
  if (written === undefined) return `${required} matches nothing`;
  if (written === "") return `${required} is empty`;
  return `${required} gives no ${type} from ${JSON.stringify(written.slice(0, SAMPLE_CHARS))}`;
}

function compileObject(name: string, rule: RuleDetail, fields: Rules, path: string): FieldReader {
  if (!isCssSource(rule.select)) throw notAnElement(path, rule.select);
  const css = compileCss(rule.select, `field ${JSON.stringify(path)}`);
  const inner = compileFields(fields, `${path}.`);

  function readOne({ view, within }: Scope, problems: string[], at: string): Fields | null {
    const element = css.first(view.dom, within);
    return element === undefined ? null : inner.read({ view, within: element }, problems, `${at}.`);
  }

  function readAll({ view, within }: Scope, problems: string[], at: string): Fields[] {
    const elements = css.all(view.dom, within);
    return elements.map((element, index) => inner.read({ view, within: element }, problems, `${at}[${index}].`));
  }

  function read(scope: Scope, problems: string[], at: string): unknown {
    const value = rule.list === true ? readAll(scope, problems, at) : readOne(scope, problems, at);
    const isMissing = value === null || (Array.isArray(value) && value.length === 0);
    if (isMissing && rule.required === true) problems.push(missing(at, rule.select, "text", undefined));
    return value;
  }

  return { name, usesTree: true, read };
}

function notAnElement(path: string, select: string): TrawlError {
  return new TrawlError("BAD_SELECTOR", {
    op: "extract.compile",
    message: `field "${path}": ${JSON.stringify(select)} has "fields", so it must be the CSS selector of an element`,
    detail: { field: path, selector: select },
  });
}
