import { type AnyNode, hasChildren, isTag, isText, type ParentNode } from "domhandler";

/** Elements whose content is not visible as text of the page. */
export const HIDDEN_TAGS: ReadonlySet<string> = new Set(
  "script style noscript template svg iframe object audio video canvas title datalist".split(" "),
);

/** Elements that separate the text before them from the text after them. */
export const BLOCK_TAGS: ReadonlySet<string> = new Set(
  (
    "address article aside blockquote body br button caption center dd details dialog dir div dl dt fieldset " +
    "figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr legend li main menu nav ol " +
    "optgroup option p pre search section select summary table tbody td textarea tfoot th thead tr ul"
  ).split(" "),
);

/** Replaces every run of white space by one space, and trims. Also replaces NUL, which databases reject. */
export function collapse(text: string): string {
  return collapseRuns(text).trim();
}

/** Like `collapse`, but keeps one space at each end that had white space. */
export function collapseRuns(text: string): string {
  return text.replace(UNTIDY_SPACE, " ");
}

/** White space except single spaces. Most white space is a single space, and skipping those is three times as fast. */
const UNTIDY_SPACE = /[\s\0]{2,}|[^\S ]|\0/g;

/** The first `max` characters. Does not split a surrogate pair. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  const last = text.charCodeAt(max - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? max - 1 : max);
}

/**
 * The visible text inside a node, with blocks separated by a space and white space collapsed. A hidden node, such as a
 * script, yields its raw text.
 */
export function textOf(root: ParentNode): string {
  if (isTag(root) && isHidden(root)) return rawTextOf(root).trim();
  let text = "";
  walk(root, {
    enter(node) {
      if (isText(node)) text += node.data;
      if (!isTag(node)) return true;
      if (BLOCK_TAGS.has(node.name)) text += " ";
      return !HIDDEN_TAGS.has(node.name);
    },
    leave(node) {
      if (isTag(node) && BLOCK_TAGS.has(node.name)) text += " ";
    },
  });
  return collapse(text);
}

/** Block elements that do not start a line: browsers show them in one line with their neighbours. */
const SAME_LINE_TAGS: ReadonlySet<string> = new Set("button optgroup option select td th".split(" "));

/** Elements whose text keeps its own line breaks. */
const PREFORMATTED_TAGS: ReadonlySet<string> = new Set(["pre", "textarea"]);

/**
 * The text inside a node with line breaks: every block element and every `<br>` starts a new line. White space in a
 * line is collapsed, and empty lines are removed. Line breaks in the markup count as spaces, except in `<pre>` and
 * `<textarea>`.
 */
export function linesOf(root: ParentNode): string {
  if (isTag(root) && isHidden(root)) return collapseLines(rawTextOf(root));
  let text = "";
  let preformatted = isTag(root) && PREFORMATTED_TAGS.has(root.name) ? 1 : 0;
  walk(root, {
    enter(node) {
      if (isText(node)) text += preformatted > 0 ? node.data : node.data.replace(LINE_BREAKS, " ");
      if (!isTag(node)) return true;
      text += breakAt(node.name);
      if (HIDDEN_TAGS.has(node.name)) return false;
      if (PREFORMATTED_TAGS.has(node.name)) preformatted += 1;
      return true;
    },
    leave(node) {
      if (!isTag(node)) return;
      text += breakAt(node.name);
      if (PREFORMATTED_TAGS.has(node.name)) preformatted -= 1;
    },
  });
  return collapseLines(text);
}

/** Collapses the white space of each line, and removes empty lines. */
export function collapseLines(text: string): string {
  return text
    .split(LINE_BREAKS)
    .map(collapse)
    .filter((line) => line !== "")
    .join("\n");
}

const LINE_BREAKS = /\r\n?|[\n\v\f\u0085\u2028\u2029]/g;

function breakAt(tag: string): string {
  if (!BLOCK_TAGS.has(tag)) return "";
  return SAME_LINE_TAGS.has(tag) ? " " : "\n";
}

/** All text nodes inside a node, joined. */
export function rawTextOf(root: ParentNode): string {
  let text = "";
  walk(root, {
    enter(node) {
      if (isText(node)) text += node.data;
      return true;
    },
    leave() {},
  });
  return text;
}

type Visitor = {
  /** Returns false to skip the children of the node. */
  enter(node: AnyNode): boolean;
  leave(node: AnyNode): void;
};

/** Visits the descendants of `root` in document order, without recursion. */
function walk(root: ParentNode, visitor: Visitor): void {
  let node: AnyNode | undefined = root.children[0];
  while (node !== undefined) {
    const inside: AnyNode | undefined = visitor.enter(node) && hasChildren(node) ? node.children[0] : undefined;
    node = inside ?? leaveUntilNext(node, root, visitor);
  }
}

function leaveUntilNext(from: AnyNode, root: ParentNode, visitor: Visitor): AnyNode | undefined {
  for (let node: AnyNode | null = from; node !== null && node !== root; node = node.parent) {
    visitor.leave(node);
    if (node.next !== null) return node.next;
  }
  return undefined;
}

function isHidden(root: AnyNode): boolean {
  for (let node: AnyNode | null = root; node !== null; node = node.parent) {
    if (isTag(node) && HIDDEN_TAGS.has(node.name)) return true;
  }
  return false;
}
