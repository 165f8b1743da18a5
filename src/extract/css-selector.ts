import { compile } from "css-select";
import { type AnyNode, type Document, Element, isTag } from "domhandler";
import { findAll, findOne } from "domutils";
import { TrawlError } from "../errors.ts";

/** A compiled selector. It searches the page, or the inside of `within`. */
type CssSelector = {
  first(dom: Document, within: Element | undefined): Element | undefined;
  /** In document order. */
  all(dom: Document, within: Element | undefined): Element[];
};

/**
 * Compiles a selector once for any number of pages. It has the semantics of `querySelectorAll`. In addition it may
 * begin with a combinator (`> a`, `+ dd`) or be `:scope`, both relative to the searched element. Tag and attribute
 * names ignore case.
 *
 * @param owner names the rule in the error, e.g. `field "price"`.
 * @throws TrawlError BAD_SELECTOR
 */
export function compileCss(selector: string, owner: string): CssSelector {
  // css-select reads the context at each match, so one compiled selector works for every searched element.
  const scope: Element[] = [NO_ELEMENT];
  const matches = compileOrThrow(selector, owner, scope);
  const searched = BEGINS_WITH_SIBLING.test(selector) ? followingSiblings : childrenOf;
  const isScopeItself = selector.trim() === ":scope";

  function enter(dom: Document, within: Element | undefined): Element | undefined {
    const root = within ?? dom.children.find(isTag);
    scope[0] = root ?? NO_ELEMENT;
    return root;
  }

  return {
    first(dom, within) {
      const root = enter(dom, within);
      if (isScopeItself) return root;
      return findOne(matches, searched(dom, within)) ?? undefined;
    },
    all(dom, within) {
      const root = enter(dom, within);
      if (isScopeItself) return root === undefined ? [] : [root];
      return findAll(matches, searched(dom, within));
    },
  };
}

const NO_ELEMENT = new Element("none", {});
const BEGINS_WITH_SIBLING = /^\s*[+~]/;
/** Tokens whose matches depend on the searched element. */
const RELATIVE = /:scope|(?:^|[,(])\s*[>+~]/i;

function compileOrThrow(selector: string, owner: string, scope: Element[]): (element: Element) => boolean {
  const problem = problemOf(selector);
  if (problem !== undefined) throw badSelector(selector, owner, problem);
  try {
    // The ancestor cache avoids cubic time for `a b c`, but its entries are wrong after the scope has changed.
    return compile<AnyNode, Element>(selector, { context: scope, cacheResults: !RELATIVE.test(selector) });
  } catch (cause) {
    throw badSelector(selector, owner, readable(cause instanceof Error ? cause.message : String(cause)), cause);
  }
}

/** Finds mistakes that css-select accepts, such as `.a@href` and `a >`. Such selectors match nothing. */
function problemOf(selector: string): string | undefined {
  const skeleton = selector
    .replace(/\\./g, "x")
    .replace(/"[^"]*"|'[^']*'/g, "x")
    .replace(/\[[^\]]*\]|:i?contains\([^)]*\)/gi, "x");
  if (skeleton.trim() === "") return "it is empty";
  const unpaired = unpairedBracket(skeleton);
  if (unpaired !== undefined) return unpaired;
  const unexpected = /[^\w\s\-.#:*>+~,()[\]|"'\u0080-\uffff]/.exec(skeleton)?.[0];
  if (unexpected !== undefined) return `"${unexpected}" is not allowed there`;
  return /[>+~]\s*(?:[,)]|$)/.test(skeleton) ? "nothing follows its last combinator" : undefined;
}

/**
 * Describes a bracket without its counterpart. `skeleton`: the selector without quoted text and without complete `[…]`.
 */
function unpairedBracket(skeleton: string): string | undefined {
  if (skeleton.includes("[")) return '"[" is not closed';
  if (skeleton.includes("]")) return '"]" has no "["';
  let depth = 0;
  for (const char of skeleton) {
    if (char === "(") depth += 1;
    else if (char === ")") depth -= 1;
    if (depth < 0) return '")" has no "("';
  }
  return depth > 0 ? '"(" is not closed' : undefined;
}

/** Rewrites the messages of css-select that users cannot understand. */
function readable(message: string): string {
  const [, found] = /^Expected name, found (.*)$/s.exec(message) ?? [];
  if (found !== undefined) return found === "" ? "a name is missing at its end" : `a name is missing at "${found}"`;
  const [, unmatched] = /^Unmatched selector: (.*)$/s.exec(message) ?? [];
  if (unmatched !== undefined) return `"${unmatched}" is not allowed there`;
  if (message.startsWith("Empty sub-selector")) return "one of its parts is empty";
  return message.startsWith("Did not expect successive traversals") ? "it has two combinators in a row" : message;
}

function badSelector(selector: string, owner: string, problem: string, cause?: unknown): TrawlError {
  return new TrawlError("BAD_SELECTOR", {
    op: "extract.compile",
    message: `${owner}: ${JSON.stringify(selector)} is not a CSS selector: ${problem}; correct it`,
    detail: { owner, selector },
    cause,
  });
}

function childrenOf(dom: Document, within: Element | undefined): AnyNode[] {
  return within === undefined ? dom.children : within.children;
}

function followingSiblings(_dom: Document, within: Element | undefined): AnyNode[] {
  const siblings: AnyNode[] = [];
  for (let node = within?.next; node; node = node.next) siblings.push(node);
  return siblings;
}
