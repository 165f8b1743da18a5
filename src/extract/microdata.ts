import { type Element, isTag, type ParentNode } from "domhandler";
import { elementsIn } from "./elements.ts";
import type { Thing } from "./structured.ts";
import { textOf } from "./visible-text.ts";

/**
 * The microdata of `root` and its descendants, in the form of JSON-LD: `{ "@type": "Product", "name": "…" }`. A
 * property that occurs once has one value; a property that occurs more often has a list. `itemref` is not followed.
 * Never throws.
 *
 * @param absolute makes a URL absolute, for values that are links.
 */
export function readMicrodata(root: ParentNode, absolute: (href: string) => string): Thing[] {
  const things = new Map<Element, Record<string, unknown>>();
  const outermost: Thing[] = [];
  for (const element of withItself(root)) {
    const thing = "itemscope" in element.attribs ? newThing(element) : undefined;
    if (thing !== undefined) things.set(element, thing);
    const names = element.attribs.itemprop?.split(/\s+/).filter((name) => name !== "") ?? [];
    const owner = names.length === 0 ? undefined : ownerOf(element, things);
    if (owner !== undefined) addProperties(owner, names, thing ?? propertyValue(element, absolute));
    else if (thing !== undefined) outermost.push(thing);
  }
  return outermost;
}

function* withItself(root: ParentNode): Generator<Element> {
  if (isTag(root)) yield root;
  yield* elementsIn(root);
}

function newThing({ attribs }: Element): Record<string, unknown> {
  // Without a prototype, `constructor` and `__proto__` are ordinary property names.
  const thing: Record<string, unknown> = Object.create(null);
  const types = (attribs.itemtype ?? "").split(/\s+/).flatMap((type) => type.replace(/^.*[/#]/, "") || []);
  if (types.length > 0) thing["@type"] = types.length === 1 ? types[0] : types;
  if (attribs.itemid !== undefined) thing["@id"] = attribs.itemid;
  return thing;
}

/** The item that encloses an element. Parents are visited before their children, so it exists already. */
function ownerOf(element: Element, things: ReadonlyMap<Element, Record<string, unknown>>) {
  for (let node = element.parent; node !== null; node = node.parent) {
    const owner = isTag(node) ? things.get(node) : undefined;
    if (owner !== undefined) return owner;
  }
  return undefined;
}

function addProperties(owner: Record<string, unknown>, names: readonly string[], value: unknown): void {
  for (const name of names) {
    const known = owner[name];
    if (known === undefined) owner[name] = value;
    else if (Array.isArray(known)) known.push(value);
    else owner[name] = [known, value];
  }
}

/** The attribute that contains the value, by element. */
const URL_ATTRIBUTES: Readonly<Record<string, string>> = {
  a: "href",
  area: "href",
  link: "href",
  img: "src",
  audio: "src",
  video: "src",
  source: "src",
  iframe: "src",
  embed: "src",
  object: "data",
};

function propertyValue(element: Element, absolute: (href: string) => string): string {
  const { name, attribs } = element;
  // The standard allows `content` on <meta> only, but shops use it on all elements.
  if (attribs.content !== undefined) return attribs.content.trim();
  const urlAttribute = Object.hasOwn(URL_ATTRIBUTES, name) ? URL_ATTRIBUTES[name] : undefined;
  const href = urlAttribute === undefined ? undefined : attribs[urlAttribute];
  if (href !== undefined) return absolute(href.trim());
  if (name === "time" && attribs.datetime !== undefined) return attribs.datetime.trim();
  if ((name === "data" || name === "meter") && attribs.value !== undefined) return attribs.value.trim();
  return textOf(element);
}
