/** Progress of a crawl on stderr: one live block on a terminal, a plain line now and then elsewhere. */
import { formatDuration } from "../domain/duration.ts";
import type { JobView } from "../frontier/frontier-admin.ts";
import { formatCount, type Screen, shorten } from "./terminal.ts";

export type Sample = { job: JobView; at: number; note: string };

export type Progress = {
  show(sample: Sample): void;
  /** Removes the live block, so that other text can follow. */
  clear(): void;
};

export type Speed = { perSecond: number; etaMs: number | undefined };

/** Speed over the last seconds, from samples. The eta counts only what is known to wait. */
export function createSpeedometer(windowMs: number): (sample: Sample) => Speed {
  const seen: { at: number; done: number }[] = [];
  return ({ job, at }) => {
    const { done, dead, refused, queued, delayed, leased } = job.counts;
    seen.push({ at, done: done + dead + refused });
    while (seen.length > 2 && at - (seen[1]?.at ?? at) > windowMs) seen.shift();
    const [first] = seen;
    const passedMs = at - (first?.at ?? at);
    const perSecond = passedMs === 0 ? 0 : ((done + dead + refused - (first?.done ?? 0)) / passedMs) * 1000;
    const waiting = queued + delayed + leased;
    return { perSecond, etaMs: perSecond > 0 ? (waiting / perSecond) * 1000 : undefined };
  };
}

const PLAIN_EVERY_MS = 5_000;

export function createProgress(screen: Screen): Progress {
  const speedOf = createSpeedometer(5_000);
  let lines = 0;
  let lastPlainAt = Number.NEGATIVE_INFINITY;

  function clear(): void {
    if (lines > 0) screen.err(`\x1b[${lines}A\x1b[0J`);
    lines = 0;
  }

  return {
    clear,
    show(sample) {
      const speed = speedOf(sample);
      if (screen.isLive) {
        const block = liveBlock(screen, sample, speed);
        clear();
        screen.err(block);
        lines = block.split("\n").length - 1;
      } else if (sample.at - lastPlainAt >= PLAIN_EVERY_MS) {
        lastPlainAt = sample.at;
        screen.err(`${plainLine(sample, speed)}\n`);
      }
    },
  };
}

/** `pages=312 rate=48.2/s queue=120 in_flight=8 failed=1 eta=3s`, which grep and awk can read. */
export function plainLine({ job }: Sample, { perSecond, etaMs }: Speed): string {
  const { queued, delayed, leased, dead } = job.counts;
  const eta = etaMs === undefined ? "-" : formatDuration(etaMs).replaceAll(" ", "");
  return `pages=${job.tally.pages} rate=${perSecond.toFixed(1)}/s queue=${queued + delayed} in_flight=${leased} failed=${dead} eta=${eta}`;
}

function liveBlock({ paint, columns }: Screen, { job, note }: Sample, { perSecond, etaMs }: Speed): string {
  const { counts, tally } = job;
  const ended = counts.done + counts.dead + counts.refused + counts.cancelled;
  const known = ended + counts.queued + counts.delayed + counts.leased;
  const cells = [
    `${paint.bold(formatCount(tally.pages))} pages`,
    `${perSecond.toFixed(perSecond < 10 ? 1 : 0)}/s`,
    `queue ${formatCount(counts.queued + counts.delayed)}`,
    `in flight ${counts.leased}`,
    counts.dead > 0 ? paint.red(`failed ${formatCount(counts.dead)}`) : "failed 0",
    `eta ${etaMs === undefined ? "–" : formatDuration(etaMs)}`,
  ];
  const width = Math.min(columns(), 100);
  return `${bar(known === 0 ? 0 : ended / known, width, paint)}\n${cells.join(paint.dim(" · "))}\n${paint.dim(shorten(note, width - 1))}\n`;
}

function bar(share: number, width: number, paint: Screen["paint"]): string {
  const cells = Math.max(10, width - 8);
  const full = Math.min(cells, Math.floor(share * cells));
  const percent = `${Math.floor(share * 100)}%`.padStart(5);
  return paint.cyan("━".repeat(full)) + paint.dim("─".repeat(cells - full)) + percent;
}
