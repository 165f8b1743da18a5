/** Formats the result of `trawl try`. */
import { formatBytes, plural } from "../../domain/format-number.ts";
import type { Page } from "../../domain/page.ts";
import { showable } from "../../runtime/showable.ts";
import type { ExtractedPage } from "../../spider/page-reader.ts";
import { table } from "../terminal.ts";
import type { TriedPage } from "./try-page.ts";

const LINKS_SHOWN = 10;
const VALUES_SHOWN = 5;
/** The maximum length of a value. Longer values are shortened; --json has the full values. */
const WIDEST_VALUE = 200;
const NARROWEST_VALUE = 20;

/** `unmatched`: selectors of `follow` that matched nothing. */
type PageResult = { tried: TriedPage; page: Page; reading: ExtractedPage; unmatched: readonly string[] };

export function showPage({ tried, page, reading, unmatched }: PageResult, width: number): string {
  const { hops, charset } = tried;
  const { records, invalid } = reading;
  const links = [...reading.links, ...reading.wanted.map(wantedText)];
  const facts = [
    ["status", String(page.status)],
    ["type", `${page.contentType ?? "unknown"} (decoded as ${charset})`],
    ["size", `${formatBytes(page.bodyBytes)} in ${Math.round(page.tookMs)} ms`],
    ...(tried.isRendered ? [["rendered", "in a browser"]] : []),
    ...hops.map((hop) => ["redirected", hop]),
  ];
  return [
    `${showable(page.url)}\n${table(facts.map((row) => ["", ...row]))}`,
    ...records.map((record, index) => `\nrecord ${index + 1} of ${records.length}\n${fieldsTable(record, width)}`),
    ...invalid.map(({ fields, reason }) => `\ninvalid record: ${showable(reason)}\n${fieldsTable(fields, width)}`),
    records.length + invalid.length === 0 ? "\nno records\n" : "",
    `\n${plural(links.length, "link")}${links.length > LINKS_SHOWN ? `, the first ${LINKS_SHOWN}` : ""}\n`,
    ...links.slice(0, LINKS_SHOWN).map((link) => `  ${showable(link)}\n`),
    ...unmatched.map((selector) => `follow: ${showable(selector)} matched no links\n`),
  ].join("");
}

function wantedText({ url, handler, carry }: ExtractedPage["wanted"][number]): string {
  const to = handler === undefined ? "" : `  to ${handler}`;
  return `${url}${to}${carry === undefined ? "" : `  carry ${JSON.stringify(carry)}`}`;
}

function fieldsTable(fields: Record<string, unknown>, width: number): string {
  const entries = Object.entries(fields);
  const available = width - Math.max(...entries.map(([name]) => name.length)) - INDENT;
  const valueWidth = Math.min(Math.max(available, NARROWEST_VALUE), WIDEST_VALUE);
  return table(entries.map(([name, value]) => ["", name, valueText(value, valueWidth)]));
}

/** Spaces before the name and between the name and the value. */
const INDENT = 4;

function valueText(value: unknown, width: number): string {
  if (!Array.isArray(value) || value.length <= VALUES_SHOWN) return cut(showable(JSON.stringify(value)), width);
  return cut(showable(`${value.length} values, the first ${JSON.stringify(value[0])}`), width);
}

/** Shortens text at its end. */
function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
}
