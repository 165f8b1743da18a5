/** Renders one frame as lines that fit the screen. The functions are pure. */

import { formatDuration } from "../../domain/duration.ts";
import { formatBytes, formatCount, plural } from "../../domain/format-number.ts";
import { withCommand } from "../terminal.ts";
import { fitLine, type Line, type Piece } from "./cells.ts";
import type { FleetSnapshot, Totals } from "./fleet-snapshot.ts";
import { ORDERS, PANELS, type PanelName, type PanelRows, panelRows, rateOf } from "./panels.ts";
import { HELP, type View } from "./view.ts";

export type Size = { columns: number; rows: number };

type Frame = {
  snapshot: FleetSnapshot;
  view: View;
  /** The URL of the broker or server. */
  source: string;
  /** The current error; the snapshot is then the last successful one. */
  trouble: string | undefined;
  /** The command that starts this program. */
  command: string;
};

const HEADER_LINES = 3;
/** From this many rows on, panels are separated by empty lines. */
const SPACED_ROWS = 32;
/** Below this many rows, only one panel is shown. */
const ALL_PANELS_ROWS = 14;
const SPARK_CELLS = { least: 8, max: 40, others: 60 };

export function frameLines(frame: Frame, { columns, rows }: Size): Line[] {
  const header = headerLines(frame, columns);
  const bodyRows = Math.max(0, rows - header.length - 1);
  const body = frame.view.isHelp ? helpLines() : bodyLines(frame, { columns, rows: bodyRows });
  const lines = [...header, ...body.slice(0, bodyRows)];
  while (lines.length < rows - 1) lines.push([]);
  return [...lines, footerLine(frame)].slice(0, Math.max(0, rows)).map((line) => fitLine(line, columns));
}

/** Renders a frame for a pipe: every panel with up to `maxRows` rows, without the footer. */
export function plainLines(frame: Frame, columns: number, maxRows: number): Line[] {
  const panels = PANELS.flatMap((panel) => {
    const content = panelRows(panel, frame.snapshot, frame.view);
    return [[], ...panelLines(panel, content, { frame, columns, rows: maxRows })];
  });
  return [...headerLines(frame, columns), ...panels].map((line) => fitLine(line, columns));
}

function headerLines({ snapshot, source, trouble }: Frame, columns: number): Line[] {
  const { totals } = snapshot;
  const cells = Math.min(SPARK_CELLS.max, Math.max(SPARK_CELLS.least, columns - SPARK_CELLS.others));
  const clock = new Date(snapshot.at).toISOString().slice(11, 19);
  const state: Piece = trouble === undefined ? { text: `${clock} UTC`, tone: "dim" } : { text: trouble, tone: "red" };
  return [
    [{ text: "trawl top", tone: "bold" }, { text: "  " }, state, { text: `  ${source}`, tone: "dim" }],
    [
      ...gauge("pages", totals.pagesPerSecond === null ? "-" : rateOf(totals.pagesPerSecond)),
      { text: sparkline(snapshot.pagesPerSecond, cells), tone: "cyan" },
      { text: `  ${speedText(totals)}` },
    ],
    [
      ...gauge("waiting", formatCount(totals.waiting)),
      { text: sparkline(snapshot.waiting, cells), tone: "yellow" },
      { text: `  ${fleetText(totals)}` },
    ],
  ];
}

const BARS = "▁▂▃▄▅▆▇█";

/** Draws the last values, one per cell, the newest on the right. Null values are gaps. */
function sparkline(values: readonly (number | null)[], width: number): string {
  const shown = values.slice(-Math.max(0, width));
  if (width <= 0) return "";
  const max = Math.max(0, ...shown.map((value) => value ?? 0));
  const bars = shown.map((value) => {
    if (value === null) return " ";
    const height = max === 0 ? 0 : Math.ceil((value / max) * (BARS.length - 1));
    return BARS[height] ?? " ";
  });
  return bars.join("").padStart(width);
}

function gauge(name: string, value: string): Piece[] {
  return [{ text: `${name} ` }, { text: value.padStart(18 - name.length), tone: "bold" }, { text: " " }];
}

function speedText({ success, p50Ms, p95Ms }: Totals): string {
  const share = success === null ? "-" : `${(success * 100).toFixed(success < 1 ? 1 : 0)}%`;
  const ms = (value: number | null) => (value === null ? "-" : formatDuration(value));
  return `success ${share}  p50 ${ms(p50Ms)}  p95 ${ms(p95Ms)}`;
}

function fleetText({ inFlight, capacity, workers, rssBytes }: Totals): string {
  return `in flight ${formatCount(inFlight)}/${formatCount(capacity)}  ${plural(workers, "worker")}  ${formatBytes(rssBytes)}`;
}

function bodyLines(frame: Frame, { columns, rows }: Size): Line[] {
  const { panel } = frame.view;
  const names = rows < ALL_PANELS_ROWS - HEADER_LINES - 1 ? [panel] : PANELS;
  const panels = names.map((name) => ({ name, content: panelRows(name, frame.snapshot, frame.view) }));
  const gap = rows >= SPACED_ROWS ? 1 : 0;
  const available = rows - panels.length * (1 + gap);
  const shares = shareOut(
    panels.map(({ name, content }) => ({ isFirst: name === panel, needs: Math.max(1, content.count) })),
    available,
  );
  return panels.flatMap(({ name, content }, nth) => [
    ...(gap === 1 ? [[]] : []),
    ...panelLines(name, content, { frame, columns, rows: shares[nth] ?? 0 }),
  ]);
}

/** Distributes rows round robin; the selected panel gets two rows per turn. */
function shareOut(panels: readonly { isFirst: boolean; needs: number }[], available: number): number[] {
  const shares = panels.map(() => 0);
  let left = available;
  for (let given = 1; given > 0; ) {
    given = 0;
    panels.forEach(({ isFirst, needs }, nth) => {
      const share = Math.min(isFirst ? 2 : 1, needs - (shares[nth] ?? 0), left);
      shares[nth] = (shares[nth] ?? 0) + share;
      left -= share;
      given += share;
    });
  }
  return shares;
}

type PanelLayout = { frame: Frame; columns: number; rows: number };

function panelLines(name: PanelName, content: PanelRows, { frame, columns, rows }: PanelLayout): Line[] {
  const { view } = frame;
  const isChosen = view.panel === name && view.isPlain !== true;
  const label = columns < NARROW ? 0 : LABEL;
  const width = Math.max(0, columns - MARK.length - label);
  const at = Math.min(view.selected[name], Math.max(0, content.count - 1));
  const from = Math.min(Math.max(0, at - Math.floor(rows / 2)), Math.max(0, content.count - rows));
  const [heading = [], ...lines] = content.lines(from, from + rows, width);
  const indent = { text: " ".repeat(label) };
  if (content.count === 0) {
    const text = withCommand(content.empty, frame);
    const empty: Line = [{ text: " ".repeat(MARK.length) }, indent, { text, tone: "dim" }];
    return [titleLine(name, isChosen, []), ...(rows > 0 ? [empty] : [])];
  }
  return [
    // On a narrow screen there is no space for column headings next to the panel's title.
    titleLine(name, isChosen, label === 0 ? [] : heading),
    ...lines.map((line, nth): Line => {
      const isSelected = isChosen && from + nth === at;
      const mark: Piece = { text: isSelected ? MARK : "  ", tone: "cyan" };
      return [mark, indent, ...(isSelected ? line.map(({ text }): Piece => ({ text, tone: "bold" })) : line)];
    }),
  ];
}

/** Width of the panel titles on the left. */
const LABEL = 9;
const NARROW = 60;
const MARK = "▸ ";

function titleLine(name: PanelName, isChosen: boolean, heading: Line): Line {
  const title: Piece = { text: name.toUpperCase(), tone: isChosen ? "inverse" : "bold" };
  return [{ text: " ".repeat(MARK.length) }, title, { text: " ".repeat(LABEL - name.length) }, ...heading];
}

function helpLines(): Line[] {
  const width = Math.max(...HELP.map(([keys]) => keys.length));
  return [
    [],
    ...HELP.map(([keys, does]): Line => [{ text: `  ${keys.padEnd(width)}  `, tone: "cyan" }, { text: does }]),
  ];
}

function footerLine({ view }: Frame): Line {
  const { question, isTyping, filter, notice, panel } = view;
  if (question !== undefined) {
    const text = `${question.verb} job ${question.id} (${question.name})? Press y to confirm, any other key to cancel`;
    return [{ text, tone: "yellow" }];
  }
  if (isTyping) return [{ text: "/", tone: "cyan" }, { text: filter }, { text: "▏" }];
  if (notice !== "") return [{ text: notice, tone: "yellow" }];
  const order = ORDERS[panel][view.orderIndex[panel]];
  const filtered = filter === "" ? "" : `  Esc clear /${filter}`;
  return [{ text: `q quit  Tab panel  ↑↓ select  p pause  s ${order}  / filter  ? help${filtered}`, tone: "dim" }];
}
