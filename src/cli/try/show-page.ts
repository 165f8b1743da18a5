/** One tried page, for a person to read. */

import { formatBytes, plural } from "../../domain/counted.ts";
import type { Page } from "../../domain/page.ts";
import type { Extraction } from "../../extract/extractor.ts";
import { showable } from "../../runtime/showable.ts";
import { table } from "../terminal.ts";
import type { TriedPage } from "./try-page.ts";

const LINKS_SHOWN = 10;
const VALUES_SHOWN = 5;
/** Longer values are cut: this is for looking, --json has them whole. */
const WIDEST_VALUE = 200;
const NARROWEST_VALUE = 20;

type Shown = { tried: TriedPage; page: Page; extraction: Extraction };

export function showPage({ tried, page, extraction }: Shown, width: number): string {
  const { hops, charset } = tried;
  const { records, invalid, links } = extraction;
  const facts = [
    ["status", String(page.status)],
    ["type", `${page.contentType ?? "not said"} (read as ${charset})`],
    ["size", `${formatBytes(page.bodyBytes)} in ${Math.round(page.tookMs)} ms`],
    ...(tried.isRendered ? [["shown", "in a browser"]] : []),
    ...hops.map((hop) => ["redirected", hop]),
  ];
  return [
    `${showable(page.url)}\n${table(facts.map((row) => ["", ...row]))}`,
    ...records.map((record, index) => `\nrecord ${index + 1} of ${records.length}\n${fieldsTable(record, width)}`),
    ...invalid.map(({ fields, reason }) => `\ninvalid record: ${showable(reason)}\n${fieldsTable(fields, width)}`),
    records.length + invalid.length === 0 ? "\nno record: nothing matched\n" : "",
    `\n${plural(links.length, "link")}${links.length > LINKS_SHOWN ? `, the first ${LINKS_SHOWN}` : ""}\n`,
    ...links.slice(0, LINKS_SHOWN).map((link) => `  ${showable(link)}\n`),
  ].join("");
}

function fieldsTable(fields: Record<string, unknown>, width: number): string {
  const entries = Object.entries(fields);
  const room = width - Math.max(...entries.map(([name]) => name.length)) - INDENT;
  const valueWidth = Math.min(Math.max(room, NARROWEST_VALUE), WIDEST_VALUE);
  return table(entries.map(([name, value]) => ["", name, valueText(value, valueWidth)]));
}

/** Before the name, and between it and the value. */
const INDENT = 4;

function valueText(value: unknown, width: number): string {
  if (!Array.isArray(value) || value.length <= VALUES_SHOWN) return cut(showable(JSON.stringify(value)), width);
  return cut(showable(`${value.length} values, the first ${JSON.stringify(value[0])}`), width);
}

/** The beginning of a text says most. */
function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
}
