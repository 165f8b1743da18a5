/** Progress of a crawl on stderr: a live block on a terminal, otherwise a plain line every 5 seconds. */

import { formatDuration } from "../domain/duration.ts";
import { formatCount, plural } from "../domain/format-number.ts";
import type { JobView } from "../frontier/frontier-admin.ts";
import { type Screen, shorten } from "./terminal.ts";

/** The fields of a job that progress needs, from the broker or from the API. */
export type Watched = Pick<JobView, "id" | "name" | "state" | "counts" | "tally">;

export type ProgressSample = { job: Watched; at: number; note: string };

export type Progress = {
  show(sample: ProgressSample): void;
  /** Removes the live block, so that other text can follow. */
  clear(): void;
};

type Speed = { perSecond: number; etaMs: number | undefined };

/** Measures the speed over the last seconds. The ETA only counts URLs that are already known. */
export function createSpeedometer(windowMs: number): (sample: ProgressSample) => Speed {
  const seen: { at: number; ended: number }[] = [];
  return ({ job, at }) => {
    const { ended, waiting } = worked(job);
    seen.push({ at, ended });
    while (seen.length > 2 && at - (seen[1]?.at ?? at) > windowMs) seen.shift();
    const [first] = seen;
    const passedMs = at - (first?.at ?? at);
    const perSecond = passedMs === 0 ? 0 : ((ended - (first?.ended ?? 0)) / passedMs) * 1000;
    return { perSecond, etaMs: perSecond > 0 ? (waiting / perSecond) * 1000 : undefined };
  };
}

/**
 * How many URLs have ended and how many wait. Refused and duplicate links are not counted: with them, the speed and the
 * share of completed URLs would be too high.
 */
function worked({ counts }: Watched): { ended: number; waiting: number } {
  const { done, dead, cancelled, queued, delayed, leased } = counts;
  return { ended: done + dead + cancelled, waiting: queued + delayed + leased };
}

const PLAIN_EVERY_MS = 5_000;

export function createProgress(screen: Screen): Progress {
  const speedOf = createSpeedometer(5_000);
  let lastPlainAt = Number.NEGATIVE_INFINITY;
  return {
    clear: () => screen.live(""),
    show(sample) {
      const speed = speedOf(sample);
      if (screen.isLive) {
        screen.live(liveBlock(screen, sample, speed));
      } else if (sample.at - lastPlainAt >= PLAIN_EVERY_MS) {
        lastPlainAt = sample.at;
        screen.err(`${plainLine(sample, speed)}\n`);
      }
    },
  };
}

/** `pages=312 rate=48.2/s queue=120 in_flight=8 failed=1 eta=3s`, for grep and awk. */
export function plainLine({ job }: ProgressSample, { perSecond, etaMs }: Speed): string {
  const { queued, delayed, leased, dead } = job.counts;
  const eta = etaMs === undefined ? "-" : formatDuration(etaMs).replaceAll(" ", "");
  return `pages=${job.tally.pages} rate=${perSecond.toFixed(1)}/s queue=${queued + delayed} in_flight=${leased} failed=${dead} eta=${eta}`;
}

function liveBlock({ paint, columns }: Screen, { job, note }: ProgressSample, { perSecond, etaMs }: Speed): string {
  const { counts, tally } = job;
  const { ended, waiting } = worked(job);
  const width = Math.min(columns(), WIDEST);
  const failed = `failed ${formatCount(counts.dead)}`;
  const cells: Cell[] = [
    { text: plural(tally.pages, "page"), paint: paint.bold },
    { text: `${perSecond.toFixed(perSecond < 10 ? 1 : 0)}/s` },
    { text: `queue ${formatCount(counts.queued + counts.delayed)}` },
    counts.dead > 0 ? { text: failed, paint: paint.red } : { text: failed },
    { text: `eta ${etaMs === undefined ? "–" : formatDuration(Math.ceil(etaMs / 1000) * 1000)}` },
    { text: `in flight ${counts.leased}` },
  ];
  const line = thatFit(cells, width).map((cell) => (cell.paint === undefined ? cell.text : cell.paint(cell.text)));
  const share = ended + waiting === 0 ? 0 : ended / (ended + waiting);
  return `${bar(share, width, paint)}\n${line.join(paint.dim(SEPARATOR))}\n${paint.dim(shorten(note, width - 1))}\n`;
}

type Cell = { text: string; paint?: (text: string) => string };

const SEPARATOR = " · ";
const WIDEST = 100;

/**
 * Drops cells from the end until the line fits: with a wrapped line, the live block could not be removed completely.
 */
function thatFit(cells: readonly Cell[], width: number): readonly Cell[] {
  const length = cells.reduce((sum, { text }) => sum + text.length, 0) + (cells.length - 1) * SEPARATOR.length;
  return length < width || cells.length === 1 ? cells : thatFit(cells.slice(0, -1), width);
}

function bar(share: number, width: number, paint: Screen["paint"]): string {
  const cells = Math.max(10, width - 8);
  const full = Math.min(cells, Math.floor(share * cells));
  const percent = `${Math.floor(share * 100)}%`.padStart(5);
  return paint.cyan("━".repeat(full)) + paint.dim("─".repeat(cells - full)) + percent;
}
