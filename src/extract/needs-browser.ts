/**
 * Detects pages that have no content until their scripts have run. In doubt, the result is false, because rendering a
 * page costs a hundred times as much as fetching it.
 */
import type { Handler } from "htmlparser2";
import { parseInto } from "./parse-html.ts";
import { HIDDEN_TAGS } from "./visible-text.ts";

/** A page with at least this much text has content. */
const CONTENT_CHARS = 200;
/** A page with less text than this has no content; the text is e.g. "Loading…" or a name. */
const NOTHING_CHARS = 40;
/** A page with this many links has content, however short its text. */
const MIN_LINKS = 3;

/** Ids and names of the elements into which frameworks render. */
const ROOTS = new Set(["root", "app", "__next", "__nuxt", "___gatsby", "svelte", "main-app", "react-root", "app-root"]);
const ROOT_TAGS = new Set(["app-root", "my-app", "app-shell"]);

const REQUIRES_SCRIPT =
  /(?:enable|require|need|turn on|activate|use|without)[^.!]{0,60}javascript|javascript[^.!]{0,60}(?:disabled|required|enabled|needed|necessary|activ)/i;

/** Never throws. */
export function needsBrowser(html: string): boolean {
  const stats = new PageStats();
  parseInto(stats, html, "html");
  const { chars, scripts, links, hasFrameOrRedirect, hasRoot, noscript } = stats;
  if (scripts === 0 || hasFrameOrRedirect || chars >= CONTENT_CHARS) return false;
  if (hasRoot || REQUIRES_SCRIPT.test(noscript)) return true;
  return chars < NOTHING_CHARS && links < MIN_LINKS;
}

class PageStats implements Partial<Handler> {
  chars = 0;
  scripts = 0;
  links = 0;
  /** Frames and meta redirects work without scripts. */
  hasFrameOrRedirect = false;
  hasRoot = false;
  noscript = "";
  #hidden: string[] = [];
  #noscripts = 0;

  onopentag(name: string, attributes: Record<string, string>): void {
    if (name === "script" && !/json|speculation|template/i.test(attributes.type ?? "")) this.scripts += 1;
    if (name === "a" && attributes.href !== undefined && this.#hidden.length === 0) this.links += 1;
    if (this.#noscripts === 0 && isFrameOrRedirect(name, attributes)) this.hasFrameOrRedirect = true;
    if (ROOTS.has((attributes.id ?? "").toLowerCase()) || ROOT_TAGS.has(name)) this.hasRoot = true;
    if (name === "noscript") this.#noscripts += 1;
    if (HIDDEN_TAGS.has(name)) this.#hidden.push(name);
  }

  onclosetag(name: string): void {
    if (name === "noscript") this.#noscripts -= 1;
    if (this.#hidden.at(-1) === name) this.#hidden.pop();
  }

  ontext(text: string): void {
    if (this.#noscripts > 0) this.noscript += text;
    else if (this.#hidden.length === 0) this.chars += text.replace(/\s+/g, " ").trim().length;
  }
}

function isFrameOrRedirect(name: string, attributes: Record<string, string>): boolean {
  if (name === "frame" || (name === "iframe" && attributes.src !== undefined)) return true;
  return name === "meta" && attributes["http-equiv"]?.toLowerCase() === "refresh";
}
