/** Decides whether a target of `follow` is a URL or a CSS selector. */

/** A scheme, or a relative URL that starts with `/`, `./`, `../` or `?`. */
const URL_START = /^(?:[a-z][a-z0-9+.-]*:\/\/|\/|\.\.?\/|\?)/i;
/** A path with a slash. A selector has slashes only in brackets, parentheses and quotes, or escaped. */
const URL_PATH = /^[^\s"'()[\]>~+,*|=#\\]+\//;
/** The name of a page file. `a.html` is a selector: links with that class are more likely than a page of that name. */
const PAGE_FILE = /^(?!a\.)[\w%~-]+(?:\.[\w%~-]+)*\.(?:x?html?|php|aspx?|jsp)(?:[?#]\S*)?$/i;

/** True for a URL, absolute or relative. Everything else is a CSS selector. */
export function isUrlTarget(target: string): boolean {
  return URL_START.test(target) || URL_PATH.test(target) || PAGE_FILE.test(target);
}
