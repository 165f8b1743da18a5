/** Formats findings as a table that fits the terminal, each with its fix below. */
import type { Finding } from "../../frontier/frontier-admin.ts";
import { showable } from "../../runtime/showable.ts";
import { type Screen, withCommand } from "../terminal.ts";

/** The width if the output is a pipe or a file. */
const USUAL = 80;
/** The maximum width. Longer lines are hard to read on any terminal. */
const WIDEST = 110;
const GAP = "  ";

export function showFindings(found: readonly Finding[], screen: Screen): string {
  const { paint, outColumns } = screen;
  const findings = found.map((finding) => ({ ...finding, check: showable(finding.check) }));
  const colour = { ok: paint.green, warning: paint.yellow, problem: paint.red };
  const verdictWidth = Math.max(...findings.map(({ verdict }) => verdict.length));
  const checkWidth = Math.max(...findings.map(({ check }) => check.length));
  const width = Number.isFinite(outColumns()) ? Math.min(outColumns(), WIDEST) : USUAL;
  const indent = verdictWidth + checkWidth + 2 * GAP.length;
  // If the name of a check is very long, the text is printed below it.
  const isNarrow = indent > width / 2;
  const margin = isNarrow ? GAP.length : indent;
  const textWidth = Math.max(20, width - margin);
  const block = ({ check, verdict, message, fix }: Finding): string => {
    const fixLines = fix === undefined ? [] : wrapped(withCommand(`fix: ${fix}`, screen), textWidth);
    const lines = [...wrapped(message, textWidth), ...fixLines];
    const head = `${colour[verdict](verdict.padEnd(verdictWidth))}${GAP}${check.padEnd(isNarrow ? 0 : checkWidth)}`;
    const [first = "", ...rest] = isNarrow ? ["", ...lines] : lines;
    return [`${head}${GAP}${first}`.trimEnd(), ...rest.map((line) => " ".repeat(margin) + line)].join("\n");
  };
  return `${findings.map(block).join("\n")}\n`;
}

/** Wraps text at `width`. A longer word, such as a path, is not split. */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/).map(showable)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
