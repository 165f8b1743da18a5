import type { Document } from "domhandler";
import { elementsIn } from "./elements.ts";
import { parseLenientJson } from "./lenient-json.ts";
import { rawTextOf } from "./visible-text.ts";

/** The JSON-LD blocks of a page, in order. Skips a block that cannot be parsed even leniently. Never throws. */
export function readJsonLd(dom: Document): unknown[] {
  const blocks: unknown[] = [];
  for (const element of elementsIn(dom)) {
    if (element.name !== "script" || !JSON_LD_TYPE.test(element.attribs.type ?? "")) continue;
    const block = parseLenientJson(rawTextOf(element));
    if (block !== undefined) blocks.push(block);
  }
  return blocks;
}

const JSON_LD_TYPE = /^\s*application\/ld\+json\s*(?:;|$)/i;
