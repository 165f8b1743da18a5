/** Formats the progress and the result of a submission. */

import { formatCount, plural } from "../../domain/format-number.ts";
import { showable } from "../../runtime/showable.ts";
import type { Intake, SubmitAnswer } from "../../submit/submit-urls.ts";
import { type Screen, shorten, steps, table } from "../terminal.ts";

type Shown = Pick<Intake["job"], "id" | "name">;

const REFUSED_SHOWN = 5;
const PLAIN_EVERY_MS = 5_000;

/** Shows progress: a live line on a terminal, otherwise a line every 5 seconds. */
export function createSubmitProgress(
  screen: Screen,
  now: () => number,
): { show(answer: SubmitAnswer, isFull: boolean): void; clear(): void } {
  let lastAt = now();
  let hasWaited = false;
  return {
    show({ taken }, isFull) {
      const waiting = isFull ? "; the broker is full: waiting until workers have fetched some URLs" : "";
      const text = `${plural(taken, "URL")} processed${waiting}`;
      if (screen.isLive) screen.live(`${shorten(text, screen.columns() - 1)}\n`);
      else if (now() - lastAt >= PLAIN_EVERY_MS || (isFull && !hasWaited)) {
        lastAt = now();
        hasWaited ||= isFull;
        screen.err(`${text}\n`);
      }
    },
    clear: () => screen.live(""),
  };
}

export function submissionText({ id, name }: Shown, answer: SubmitAnswer, width: number): string {
  const { accepted, duplicates, refusedCount } = answer;
  const rows = [
    ["accepted", formatCount(accepted)],
    ["duplicates", formatCount(duplicates)],
    ["refused", formatCount(refusedCount)],
  ];
  return [
    `job ${showable(id)}  ${showable(name)}\n`,
    table(
      rows.map((row) => ["", ...row]),
      { right: [2] },
    ),
    refusedCount === 0 ? "" : `\n${refusedText(answer, width)}`,
  ].join("");
}

function refusedText({ refused, refusedCount }: SubmitAnswer, width: number): string {
  const shown = refused.slice(0, REFUSED_SHOWN).map(({ index, url, reason }) => ["", `${index + 1}`, reason, url]);
  const more = refusedCount > shown.length ? `  … ${formatCount(refusedCount - shown.length)} more\n` : "";
  return `refused URLs, with their position in the list\n${table(shown, { right: [1], width })}${more}`;
}

/** The message for a list without a valid URL. */
export function nothingText(answer: SubmitAnswer, width: number): string {
  const why = answer.isWhole ? `none of ${plural(answer.taken, "line")} is a URL that can be fetched` : "stopped";
  return `${why}: nothing was submitted\n${answer.refusedCount === 0 ? "" : refusedText(answer, width)}`;
}

/** The message for an interrupted submission, with the commands to continue. */
export function interruptedText({ id }: Shown, { taken }: SubmitAnswer, screen: Screen): string {
  const summary = `stopped after ${plural(taken, "URL")}: workers fetch these URLs, and the job waits for the rest of the list`;
  return `${summary}\n${continueSteps(id, screen)}`;
}

/** The message for an interrupted submission whose last call got no response. */
export function unansweredText({ id }: Shown, { taken }: SubmitAnswer, screen: Screen): string {
  const summary = `stopped: the broker does not respond; it has accepted at least ${plural(taken, "URL")} of job ${showable(id)}`;
  return `${summary}\n${continueSteps(id, screen)}`;
}

function continueSteps(id: string, screen: Screen): string {
  const choices = [
    ["continue", `submit --resume ${id} THE-SAME-LIST`],
    ["cancel", `cancel ${id}`],
  ] as const;
  return steps(choices, screen);
}

export function nextSteps({ id }: Shown, screen: Screen): string {
  const choices = [
    ["status", `job ${id}`],
    ["records", `records ${id} --out records.csv`],
  ] as const;
  return `\n${steps(choices, screen)}`;
}
