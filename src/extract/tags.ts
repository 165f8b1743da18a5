/**
 * What a scan must know about each HTML element. The rules for closing elements are those of htmlparser2, so that a scan
 * and a tree show the same page; src/extract/scan-page.test.ts compares them.
 */
import { BLOCK_TAGS, HIDDEN_TAGS } from "./visible-text.ts";

export type Tag = {
  name: string;
  role: Role;
  /** It has no content and no closing tag. */
  isVoid: boolean;
  /** Its content is text until its closing tag. */
  isRaw: boolean;
  /** The open elements that its opening tag closes. */
  closes: ReadonlySet<string> | undefined;
  /** True if `<x/>` closes itself inside this element, as in SVG. False if the element ends such a context. */
  isForeign: boolean | undefined;
};

export type Role = "other" | "block" | "hidden" | "svg" | "title" | "a" | "meta" | "link" | "base";

const SPECIAL_ROLES: ReadonlySet<string> = new Set(["svg", "title", "a", "meta", "link", "base"] satisfies Role[]);

const VOID = words(
  "area base basefont br col command embed frame hr img input isindex keygen link meta param source track wbr",
);
const RAW = words("script style title textarea xmp");
const FOREIGN = words("math svg");
const NOT_FOREIGN = words("mi mo mn ms mtext annotation-xml foreignobject desc title");

const FORM_FIELDS = words("input option optgroup select button datalist textarea");
const CLOSES = new Map<string, ReadonlySet<string>>([
  ...[
    ..."address article aside blockquote details div dl fieldset figcaption figure footer form header hr".split(" "),
    ..."h1 h2 h3 h4 h5 h6 main nav ol p pre section table ul".split(" "),
  ].map((name) => [name, words("p")] as const),
  ...["select", "input", "output", "button", "datalist", "textarea"].map((name) => [name, FORM_FIELDS] as const),
  ["tr", words("tr th td")],
  ["th", words("th")],
  ["td", words("thead th td")],
  ["body", words("head link script")],
  ["li", words("li")],
  ["option", words("option")],
  ["optgroup", words("optgroup option")],
  ["dd", words("dd dt")],
  ["dt", words("dd dt")],
  ["rt", words("rt rp")],
  ["rp", words("rt rp")],
  ["tbody", words("thead tbody")],
  ["tfoot", words("thead tbody")],
]);

const KNOWN = [
  ...new Set([
    ...[...BLOCK_TAGS, ...HIDDEN_TAGS, ...SPECIAL_ROLES, ...VOID, ...RAW, ...FOREIGN, ...NOT_FOREIGN],
    ...[...CLOSES.keys()],
    // Frequent elements without a rule.
    ..."html head span b i u em strong small sub sup code label time abbr cite q font s kbd path g use picture".split(
      " ",
    ),
  ]),
].map(describeTag);

const BY_NAME = new Map(KNOWN.map((tag) => [tag.name, tag]));

/** Known elements by first and last character. A lookup then needs no new string. */
const BUCKETS: Tag[][] = Array.from({ length: 2 ** 10 }, () => []);
for (const tag of KNOWN) BUCKETS[bucketOf(tag.name, 0, tag.name.length)]?.push(tag);

/** The tag whose name is at this place of the markup, in any case. */
export function tagAt(markup: string, start: number, end: number): Tag {
  const length = end - start;
  for (const tag of BUCKETS[bucketOf(markup, start, end)] as readonly Tag[]) {
    if (tag.name.length === length && markup.startsWith(tag.name, start)) return tag;
  }
  const name = markup.slice(start, end).toLowerCase();
  return BY_NAME.get(name) ?? describeTag(name);
}

function bucketOf(text: string, start: number, end: number): number {
  return (text.charCodeAt(start) & 31) | ((text.charCodeAt(end - 1) & 31) << 5);
}

function describeTag(name: string): Tag {
  return {
    name,
    role: roleOf(name),
    isVoid: VOID.has(name),
    isRaw: RAW.has(name),
    closes: CLOSES.get(name),
    isForeign: FOREIGN.has(name) ? true : NOT_FOREIGN.has(name) ? false : undefined,
  };
}

function roleOf(name: string): Role {
  if (SPECIAL_ROLES.has(name)) return name as Role;
  if (BLOCK_TAGS.has(name)) return "block";
  return HIDDEN_TAGS.has(name) ? "hidden" : "other";
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(" "));
}
