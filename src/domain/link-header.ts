/** Reads the `Link` header of a response (RFC 8288). */

/** `rels` are in lower case. A link without `rel` has none. */
export type HeaderLink = { target: string; rels: readonly string[] };

/**
 * The links of the page itself, in order. Links with an `anchor` belong to other pages and are left out, and so is the
 * rest of a header after a syntax error. Takes linear time and never throws.
 */
export function parseLinkHeader(header: string): HeaderLink[] {
  const links: HeaderLink[] = [];
  let at = 0;
  for (;;) {
    at = skip(header, at, SEPARATOR);
    if (header[at] !== "<") return links;
    const end = header.indexOf(">", at);
    if (end === -1) return links;
    const target = header.slice(at + 1, end).trim();
    const params = readParams(header, end + 1);
    if (params.anchor === undefined) links.push({ target, rels: relsOf(params.rel) });
    at = params.end;
  }
}

type Params = { rel: string | undefined; anchor: string | undefined; end: number };

/** Reads the parameters of a link. If one is repeated, the first one counts. */
function readParams(header: string, from: number): Params {
  const params: Params = { rel: undefined, anchor: undefined, end: from };
  let at = skip(header, from, SPACE);
  while (header[at] === ";") {
    at = skip(header, at + 1, SPACE);
    const nameEnd = skip(header, at, TOKEN);
    const name = header.slice(at, nameEnd).toLowerCase();
    at = skip(header, nameEnd, SPACE);
    let value = "";
    if (header[at] === "=") {
      const read = readValue(header, skip(header, at + 1, SPACE));
      value = read.value;
      at = skip(header, read.end, SPACE);
    }
    if (name === "rel") params.rel ??= value;
    else if (name === "anchor") params.anchor ??= value;
  }
  params.end = at;
  return params;
}

function readValue(header: string, from: number): { value: string; end: number } {
  if (header[from] !== '"') {
    const end = skip(header, from, TOKEN);
    return { value: header.slice(from, end), end };
  }
  let end = from + 1;
  while (end < header.length && header[end] !== '"') end += header[end] === "\\" ? 2 : 1;
  return { value: header.slice(from + 1, end).replaceAll(/\\(.)/g, "$1"), end: Math.min(end + 1, header.length) };
}

function relsOf(rel: string | undefined): string[] {
  return rel === undefined
    ? []
    : rel
        .toLowerCase()
        .split(/\s+/)
        .filter((one) => one !== "");
}

const SEPARATOR = /[\s,]/;
const SPACE = /\s/;
const TOKEN = /[^\s;,=<>"]/;

/** The index of the first character from `at` on that is not of this kind. */
function skip(text: string, at: number, kind: RegExp): number {
  let index = at;
  while (index < text.length && kind.test(text.charAt(index))) index += 1;
  return index;
}
