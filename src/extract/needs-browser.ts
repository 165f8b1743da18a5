/**
 * Detects pages that have no content until their scripts have run. In doubt the answer is no: a page without a browser costs
 * a hundredth, and its text is complete.
 */
import type { Handler } from "htmlparser2";
import { parseInto } from "./parse-html.ts";
import { UNSEEN_TAGS } from "./visible-text.ts";

/** A page with at least this much text has content. */
const CONTENT_CHARS = 200;
/** Less text than this is no content, e.g. "Loading…" or a name. */
const NOTHING_CHARS = 40;
/** A page with this many links has content, however short its text. */
const LINKS_LEAST = 3;

/** Elements in which frameworks render. */
const ROOTS = new Set(["root", "app", "__next", "__nuxt", "___gatsby", "svelte", "main-app", "react-root", "app-root"]);
const ROOT_TAGS = new Set(["app-root", "my-app", "app-shell"]);

const WANTS_SCRIPT =
  /(?:enable|require|need|turn on|activate|use|without)[^.!]{0,60}javascript|javascript[^.!]{0,60}(?:disabled|required|enabled|needed|necessary|activ)/i;

/** Never throws. */
export function needsBrowser(html: string): boolean {
  const look = new PageLook();
  parseInto(look, html, "html");
  const { chars, scripts, links, isEmbedding, hasRoot, noscript } = look;
  if (scripts === 0 || isEmbedding || chars >= CONTENT_CHARS) return false;
  if (hasRoot || WANTS_SCRIPT.test(noscript)) return true;
  return chars < NOTHING_CHARS && links < LINKS_LEAST;
}

class PageLook implements Partial<Handler> {
  chars = 0;
  scripts = 0;
  links = 0;
  /** Frames and meta redirects work without scripts. */
  isEmbedding = false;
  hasRoot = false;
  noscript = "";
  #unseen: string[] = [];
  #noscripts = 0;

  onopentag(name: string, attributes: Record<string, string>): void {
    if (name === "script" && !/json|speculation|template/i.test(attributes.type ?? "")) this.scripts += 1;
    if (name === "a" && attributes.href !== undefined && this.#unseen.length === 0) this.links += 1;
    if (this.#noscripts === 0 && isElsewhere(name, attributes)) this.isEmbedding = true;
    if (ROOTS.has((attributes.id ?? "").toLowerCase()) || ROOT_TAGS.has(name)) this.hasRoot = true;
    if (name === "noscript") this.#noscripts += 1;
    if (UNSEEN_TAGS.has(name)) this.#unseen.push(name);
  }

  onclosetag(name: string): void {
    if (name === "noscript") this.#noscripts -= 1;
    if (this.#unseen.at(-1) === name) this.#unseen.pop();
  }

  ontext(text: string): void {
    if (this.#noscripts > 0) this.noscript += text;
    else if (this.#unseen.length === 0) this.chars += text.replace(/\s+/g, " ").trim().length;
  }
}

function isElsewhere(name: string, attributes: Record<string, string>): boolean {
  if (name === "frame" || (name === "iframe" && attributes.src !== undefined)) return true;
  return name === "meta" && attributes["http-equiv"]?.toLowerCase() === "refresh";
}
