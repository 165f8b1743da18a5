import type { AnyNode, ParentNode } from "domhandler";
import { hasChildren, isTag, isText } from "domhandler";

/** Elements whose content a reader does not see as text of the page. */
export const UNSEEN_TAGS: ReadonlySet<string> = new Set(
  "script style noscript template svg iframe object audio video canvas title datalist".split(" "),
);

/** Elements that part the text before them from the text after them. */
export const BLOCK_TAGS: ReadonlySet<string> = new Set(
  (
    "address article aside blockquote body br button caption center dd details dialog dir div dl dt fieldset " +
    "figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr legend li main menu nav ol " +
    "optgroup option p pre search section select summary table tbody td textarea tfoot th thead tr ul"
  ).split(" "),
);

/** One space for every run of white space, none at the ends. NUL goes too: databases refuse it. */
export function collapse(text: string): string {
  return collapseRuns(text).trim();
}

/** As `collapse`, but one space stays at each end that had any. */
export function collapseRuns(text: string): string {
  return text.replace(UNTIDY_SPACE, " ");
}

/** White space but the single spaces between words, which are most of it: leaving them alone is three times as fast. */
const UNTIDY_SPACE = /[\s\0]{2,}|[^\S ]|\0/g;

/** The first `most` characters, without half a surrogate pair at the end. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  const last = text.charCodeAt(most - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? most - 1 : most);
}

/**
 * The text inside a node as a reader sees it, blocks parted by a space, white space collapsed. A node that is itself
 * unseen, such as a script, gives its text as it stands.
 */
export function textOf(root: ParentNode): string {
  if (isTag(root) && isUnseen(root)) return rawTextOf(root).trim();
  let text = "";
  walk(root, {
    enter(node) {
      if (isText(node)) text += node.data;
      if (!isTag(node)) return true;
      if (BLOCK_TAGS.has(node.name)) text += " ";
      return !UNSEEN_TAGS.has(node.name);
    },
    leave(node) {
      if (isTag(node) && BLOCK_TAGS.has(node.name)) text += " ";
    },
  });
  return collapse(text);
}

/** Every text node inside a node, joined. */
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
  /** False: do not go inside. */
  enter(node: AnyNode): boolean;
  leave(node: AnyNode): void;
};

/** Visits what is inside `root`, in document order, without recursion. */
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

function isUnseen(root: AnyNode): boolean {
  for (let node: AnyNode | null = root; node !== null; node = node.parent) {
    if (isTag(node) && UNSEEN_TAGS.has(node.name)) return true;
  }
  return false;
}
