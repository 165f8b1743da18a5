/**
 * The Lua files, each with what it includes, named by their content: two versions of Trawl on one Redis each run their
 * own, so a rolling deploy needs no order.
 */
import { hash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";

export type Script = { name: string; source: string; sha: string };

const FOLDER = new URL("./lua/", import.meta.url);
const INCLUDE = /^-- @include (.+)$/m;

/** Every operation in lua/ by its name, such as `lease` or `keep-robots`. */
export function loadScripts(): ReadonlyMap<string, Script> {
  const names = readdirSync(FOLDER).filter((file) => file.endsWith(".lua"));
  return new Map(names.map((file) => [file.slice(0, -4), loadScript(file)]));
}

/** The same script under another name to the server. */
export function withComment({ name, source }: Script, comment: string): Script {
  const text = `${source}\n-- ${JSON.stringify(comment)}\n`;
  return { name, source: text, sha: hash("sha1", text) };
}

function loadScript(file: string): Script {
  const text = read(file);
  const included = INCLUDE.exec(text)?.[1]?.split(" ") ?? [];
  // A function, so that a $ in Lua stays what it is. Comments cost every load and say nothing to the server.
  const source = stripComments(text.replace(INCLUDE, () => included.map(read).join("\n")));
  return { name: file.slice(0, -4), source, sha: hash("sha1", source) };
}

function read(file: string): string {
  return readFileSync(new URL(file, FOLDER), "utf8");
}

/** The first line, if it is `#!lua`, tells the server how to run the script, and stays the first. */
function stripComments(text: string): string {
  return text.replace(/^\s*--.*\n/gm, "").replace(/\n{2,}/g, "\n");
}
