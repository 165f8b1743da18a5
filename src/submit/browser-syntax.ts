/**
 * Checks the syntax of selectors, keys and expressions for the browser at submission. In the browser an error would
 * look like a failure of the site, and would be retried. Each function returns the problem, or undefined. Selectors are
 * Playwright selectors: they are refused only if they are certainly invalid.
 */
import { Script } from "node:vm";
import { parse } from "css-what";

export function selectorProblem(selector: string): string | undefined {
  for (const part of partsOf(selector)) {
    const problem = partProblem(part);
    if (problem !== undefined) {
      return `takes a selector, such as .price, a:has-text("More"), text=More or xpath=//a, not ${JSON.stringify(selector)}: ${problem}`;
    }
  }
  return undefined;
}

/** Splits a chain such as `a >> b`, in which `b` is searched in the result of `a`. Ignores `>>` in quoted text. */
function partsOf(selector: string): readonly string[] {
  return selector.includes(">>") ? withoutQuoted(selector).split(">>") : [selector];
}

/** The names of selector engines. Names that begin with `internal:` are engines as well. */
const ENGINES = new Set([
  ...["css", "text", "id", "data-testid", "data-test-id", "data-test"].flatMap((name) => [name, `${name}:light`]),
  ...["xpath", "xpath:light", "nth", "visible", "role", "_react", "_vue", "aria-ref"],
]);
const NAMED = /^\s*\*?([a-zA-Z_0-9-+:]+)\s*=(.*)$/s;
const TEXT = /^\s*(["']).*\1\s*$/s;
const XPATH = /^\s*(\(*\/\/|\.\.)/;

function partProblem(part: string): string | undefined {
  const [, engine, body = ""] = NAMED.exec(part) ?? [];
  if (engine === "css") return cssProblem(body);
  if (engine !== undefined) {
    return ENGINES.has(engine) || engine.startsWith("internal:") ? undefined : `there is no engine ${engine}=`;
  }
  return TEXT.test(part) || XPATH.test(part) ? undefined : cssProblem(part);
}

function cssProblem(css: string): string | undefined {
  if (css.trim() === "") return "a part of it is empty";
  if (/(?<!\\)[>+~]\s*$/.test(css)) return "nothing follows its last combinator";
  try {
    // Without quoted text, because the parser would count the brackets in it.
    parse(withoutQuoted(css));
    return undefined;
  } catch (error) {
    return (error as Error).message.split("\n")[0];
  }
}

const QUOTED = /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'/gs;

function withoutQuoted(text: string): string {
  return text.replace(QUOTED, '"x"');
}

const NAMED_KEYS = new Set([
  ...["Shift", "Control", "Alt", "Meta"].flatMap((key) => [key, `${key}Left`, `${key}Right`]),
  ...["ControlOrMeta", "AltGraph", "ContextMenu", "Escape", "Enter", "Tab", "Space", "Backspace", "Delete", "Insert"],
  ...["Home", "End", "PageUp", "PageDown", "ArrowLeft", "ArrowUp", "ArrowRight", "ArrowDown"],
  ...["CapsLock", "NumLock", "ScrollLock", "PrintScreen", "Pause"],
  ...Array.from({ length: 12 }, (_, index) => `F${index + 1}`),
  ...[..."0123456789"].flatMap((digit) => [`Digit${digit}`, `Numpad${digit}`]),
  ...[..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"].map((letter) => `Key${letter}`),
  ...["Backquote", "Minus", "Equal", "Backslash", "BracketLeft", "BracketRight", "Semicolon", "Quote", "Comma"],
  ...["Period", "Slash"],
  ...["Divide", "Multiply", "Subtract", "Add", "Decimal", "Enter"].map((key) => `Numpad${key}`),
  ...["AudioVolumeMute", "AudioVolumeDown", "AudioVolumeUp", "MediaTrackNext", "MediaTrackPrevious", "MediaPlayPause"],
]);
/** The characters of a US keyboard. */
const TYPED_KEY = /^[\x20-\x7e\r\n]$/;

export function keyProblem(press: string): string | undefined {
  const unknown = keysOf(press).find((key) => !NAMED_KEYS.has(key) && !TYPED_KEY.test(key));
  if (unknown === undefined) return undefined;
  return `takes a key, such as Enter, Escape, ArrowDown, a or Control+A, not ${JSON.stringify(press)}: there is no key ${JSON.stringify(unknown)}; to type text, use { fill, with }`;
}

/** Splits a combination such as `Control+A`. A plus that does not follow a key is a key itself, as in `Control++`. */
function keysOf(press: string): readonly string[] {
  const keys = [""];
  for (const char of press) {
    if (char === "+" && keys.at(-1) !== "") keys.push("");
    else keys[keys.length - 1] += char;
  }
  return keys;
}

/** Parses the source as the browser does, without running it. */
export function expressionProblem(source: string): string | undefined {
  try {
    new Script(`() => { const value = (${source}); }`);
    return undefined;
  } catch (error) {
    return `takes an expression or a function, such as "window.ready" or "() => document.images.length > 3", not ${JSON.stringify(source.slice(0, 100))}: ${(error as Error).message}`;
  }
}
