/**
 * Loads the Lua scripts, each joined with the files it includes. Redis identifies a script by the SHA-1 of its text, so
 * two versions of Trawl on one Redis each run their own scripts, and a rolling deploy may restart processes in any
 * order.
 */
import { hash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";

export type Script = { name: string; source: string; sha: string };

const FOLDER = new URL("../lua/", import.meta.url);
/** Files that are only included in scripts. They are not operations. */
const LIBRARY = /^lib[\\/]/;
const INCLUDE = /^-- @include (.+)$/m;

/**
 * Every operation in lua/ by its file name, such as `lease` or `keep-robots`. Names are unique across the sub-folders.
 */
export function loadScripts(): ReadonlyMap<string, Script> {
  const files = readdirSync(FOLDER, { recursive: true, encoding: "utf8" });
  const operations = files.filter((file) => file.endsWith(".lua") && !LIBRARY.test(file));
  return new Map(operations.map(loadScript).map((script) => [script.name, script]));
}

/** The same script with another SHA-1, so that the server treats it as a different one. */
export function withComment({ name, source }: Script, comment: string): Script {
  const text = `${source}\n-- ${JSON.stringify(comment)}\n`;
  return { name, source: text, sha: hash("sha1", text) };
}

function loadScript(file: string): Script {
  const text = read(file);
  const included = INCLUDE.exec(text)?.[1]?.split(" ") ?? [];
  // The replacement is a function, because a `$` in a replacement string has a special meaning. Comments are removed,
  // so that they are not sent to the server.
  const source = stripComments(text.replace(INCLUDE, () => included.map(read).join("\n")));
  return { name: basename(file, ".lua"), source, sha: hash("sha1", source) };
}

function read(file: string): string {
  return readFileSync(new URL(file, FOLDER), "utf8");
}

/** Removes comment lines. Keeps the first line: `#!lua` and its flags control how the server runs the script. */
function stripComments(text: string): string {
  return text.replace(/^\s*--.*\n/gm, "").replace(/\n{2,}/g, "\n");
}
