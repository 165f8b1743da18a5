/** The panels of the screen: their rows, sort orders and columns. */
import type { QueueOut, SiteOut } from "../../client/wire-types.ts";
import { formatDuration } from "../../domain/duration.ts";
import { formatBytes, formatCount } from "../../domain/format-number.ts";
import { hasEnded } from "../../domain/job.ts";
import { shortProcess } from "../../runtime/process-identity.ts";
import { roughAge } from "../terminal.ts";
import type { Line, TextTone } from "./cells.ts";
import { type Column, inColumns } from "./columns.ts";
import { endedOf, type FleetSnapshot, leftOf, type TopJob, type TopWorker } from "./fleet-snapshot.ts";

export const PANELS = ["jobs", "queues", "sites", "workers"] as const;
export type PanelName = (typeof PANELS)[number];

/** The sort orders of each panel; the first is the default. */
export const ORDERS = {
  jobs: ["running first", "newest", "most waiting", "most failed"],
  queues: ["most waiting", "name"],
  sites: ["most waiting", "longest pause", "name"],
  workers: ["busiest", "most memory", "name"],
} as const satisfies Record<PanelName, readonly string[]>;

type Choice = { filter: string; orderIndex: Readonly<Record<PanelName, number>> };

/** The rows of a panel. `lines` returns the heading first. */
export type PanelRows = { count: number; lines(from: number, to: number, width: number): Line[]; empty: string };

export function jobsShown(snapshot: FleetSnapshot, { filter, orderIndex }: Choice): readonly TopJob[] {
  const found = snapshot.jobs.filter(({ id, name, state }) => matches(filter, id, name, state));
  const left = (job: TopJob) => leftOf(job);
  const orders: readonly ((one: TopJob, other: TopJob) => number)[] = [
    (one, other) => rank(one) - rank(other),
    () => 0, // keeps the order of the snapshot
    (one, other) => left(other) - left(one),
    (one, other) => other.counts.dead - one.counts.dead,
  ];
  return found.toSorted(orders[orderIndex.jobs]);
}

export function panelRows(panel: PanelName, snapshot: FleetSnapshot, choice: Choice): PanelRows {
  switch (panel) {
    case "jobs":
      return rowsOf(
        jobsShown(snapshot, choice),
        jobColumns,
        nothing(choice, "no jobs yet; submit one with: trawl submit <url>"),
      );
    case "queues":
      return rowsOf(queuesShown(snapshot, choice), () => QUEUE_COLUMNS, nothing(choice, "no queues in use"));
    case "sites":
      return rowsOf(sitesShown(snapshot, choice), siteColumns(snapshot.at), nothing(choice, "no sites yet"));
    case "workers":
      return rowsOf(
        workersShown(snapshot, choice),
        () => workerColumns(snapshot.at),
        nothing(choice, "no workers; start them with: trawl up"),
      );
  }
}

function rowsOf<Row>(
  rows: readonly Row[],
  columns: (width: number) => readonly Column<Row>[],
  empty: string,
): PanelRows {
  return {
    count: rows.length,
    lines: (from, to, width) => inColumns(columns(width), rows.slice(from, to), width),
    empty,
  };
}

function nothing({ filter }: Choice, empty: string): string {
  return filter === "" ? empty : `no match for "${filter}"`;
}

function matches(filter: string, ...texts: string[]): boolean {
  return filter === "" || texts.some((text) => text.toLowerCase().includes(filter.toLowerCase()));
}

function rank({ state }: TopJob): number {
  if (state === "running") return 0;
  return hasEnded(state) ? 2 : 1;
}

const STATE_TONES: Partial<Record<TopJob["state"], TextTone>> = {
  running: "green",
  paused: "yellow",
  failed: "red",
  finished: "dim",
  cancelled: "dim",
};

/** Bar lengths for narrow, normal and wide terminals. */
const BAR_CELLS = [6, 10, 20];

function jobColumns(width: number): Column<TopJob>[] {
  const cells = BAR_CELLS[width < 80 ? 0 : width < 120 ? 1 : 2] ?? 6;
  return [
    { title: "STATE", of: ({ state }) => state, tone: ({ state }) => STATE_TONES[state], dropOrder: 0 },
    { title: "PROGRESS", of: (job) => progressOf(job, cells), tone: () => "cyan", dropOrder: 2 },
    {
      title: "DONE",
      of: doneOf,
      isRight: true,
      dropOrder: 1,
    },
    {
      title: "RATE",
      of: ({ perSecond }) => (perSecond === undefined ? "-" : rateOf(perSecond)),
      isRight: true,
      dropOrder: 3,
      least: "1000/s".length,
    },
    {
      title: "ETA",
      of: ({ etaMs }) => (etaMs === undefined ? "-" : roughTime(etaMs)),
      isRight: true,
      dropOrder: 4,
      least: "59m 59s".length,
    },
    {
      title: "FAILED",
      of: ({ counts }) => formatCount(counts.dead),
      isRight: true,
      tone: ({ counts }) => (counts.dead > 0 ? "red" : undefined),
      dropOrder: 3,
    },
    { title: "JOB", of: ({ id }) => id, dropOrder: 5 },
    { title: "NAME", of: ({ name }) => name, dropOrder: 0 },
  ];
}

/** The number of ended URLs, padded so that the width stays the same while the job runs. */
function doneOf(job: TopJob): string {
  const all = formatCount(endedOf(job) + leftOf(job));
  return `${formatCount(endedOf(job)).padStart(all.length)}/${all}`;
}

function progressOf(job: TopJob, cells: number): string {
  const [ended, left] = [endedOf(job), leftOf(job)];
  const share = ended + left === 0 ? (hasEnded(job.state) ? 1 : 0) : ended / (ended + left);
  const full = Math.min(cells, Math.floor(share * cells));
  return `${"━".repeat(full)}${"─".repeat(cells - full)} ${`${Math.floor(share * 100)}%`.padStart(4)}`;
}

function queuesShown({ queues }: FleetSnapshot, { filter, orderIndex }: Choice): readonly QueueOut[] {
  const found = queues.filter(({ queue }) => matches(filter, queue));
  return orderIndex.queues === 0 ? found.toSorted((one, other) => other.waiting - one.waiting) : found;
}

const QUEUE_COLUMNS: readonly Column<QueueOut>[] = [
  { title: "WAITING", of: ({ waiting }) => formatCount(waiting), isRight: true, dropOrder: 0 },
  {
    title: "WORKERS",
    of: ({ workers }) => formatCount(workers),
    isRight: true,
    tone: ({ workers, waiting }) => (workers === 0 && waiting > 0 ? "red" : undefined),
    dropOrder: 1,
  },
  { title: "FREE", of: ({ free }) => formatCount(free), isRight: true, dropOrder: 2 },
  { title: "QUEUE", of: ({ queue }) => queue, dropOrder: 0 },
];

function sitesShown({ sites }: FleetSnapshot, { filter, orderIndex }: Choice): readonly SiteOut[] {
  const found = sites.filter(({ site }) => matches(filter, site));
  const rest = ({ blockedUntil }: SiteOut) => (blockedUntil === null ? 0 : Date.parse(blockedUntil));
  const orders: readonly ((one: SiteOut, other: SiteOut) => number)[] = [
    (one, other) => other.waiting - one.waiting || other.inFlight - one.inFlight,
    (one, other) => rest(other) - rest(one),
    (one, other) => one.site.localeCompare(other.site),
  ];
  return found.toSorted(orders[orderIndex.sites]);
}

function siteColumns(now: number): () => readonly Column<SiteOut>[] {
  return () => [
    { title: "WAITING", of: ({ waiting }) => formatCount(waiting), isRight: true, dropOrder: 0 },
    { title: "IN FLIGHT", of: ({ inFlight, perSite }) => `${inFlight}/${perSite}`, isRight: true, dropOrder: 2 },
    {
      title: "RATE",
      of: ({ rate, rateShare }) => (rateShare < 1 ? `${Math.round(rateShare * 100)}% of ${rate}` : rate),
      isRight: true,
      tone: ({ rateShare }) => (rateShare < 1 ? "yellow" : undefined),
      dropOrder: 1,
    },
    {
      title: "NEXT",
      of: (site) => nextOf(site, now),
      tone: ({ blockedUntil }) => (blockedUntil === null ? undefined : "yellow"),
      dropOrder: 1,
    },
    { title: "SITE", of: ({ site }) => site, dropOrder: 0 },
  ];
}

function nextOf({ waiting, inFlight, perSite, blockedUntil, readyAt }: SiteOut, now: number): string {
  if (blockedUntil !== null) return `paused ${roughTime(Date.parse(blockedUntil) - now)}`;
  if (waiting === 0) return "-";
  if (inFlight >= perSite) return "at its limit";
  const ms = readyAt === null ? 0 : Date.parse(readyAt) - now;
  return ms <= 0 ? "now" : ms < 1_000 ? "in <1s" : `in ${roughTime(ms)}`;
}

function workersShown({ workers }: FleetSnapshot, { filter, orderIndex }: Choice): readonly TopWorker[] {
  const found = workers.filter(({ worker, queues }) => matches(filter, worker, ...queues));
  const by = (of: "busy" | "rssBytes") => (one: TopWorker, other: TopWorker) =>
    (other.vitals?.[of] ?? 0) - (one.vitals?.[of] ?? 0);
  const orders = [by("busy"), by("rssBytes"), () => 0];
  return found.toSorted(orders[orderIndex.workers]);
}

function workerColumns(now: number): readonly Column<TopWorker>[] {
  const vital = (of: (vitals: NonNullable<TopWorker["vitals"]>) => string) => (view: TopWorker) =>
    view.vitals === undefined ? "-" : of(view.vitals);
  return [
    { title: "BUSY", of: vital(({ busy, concurrency }) => `${busy}/${concurrency}`), isRight: true, dropOrder: 0 },
    { title: "RATE", of: ({ perSecond }) => rateOf(perSecond), isRight: true, dropOrder: 2 },
    { title: "DONE", of: vital(({ done }) => formatCount(done)), isRight: true, dropOrder: 3 },
    { title: "FAILED", of: vital(({ failed }) => formatCount(failed)), isRight: true, dropOrder: 4 },
    { title: "MEMORY", of: vital(({ rssBytes }) => formatBytes(rssBytes)), isRight: true, dropOrder: 1 },
    {
      title: "UP",
      of: ({ vitals, seenAt }) => (vitals ? roughAge(vitals.upMs + now - seenAt) : "-"),
      isRight: true,
      dropOrder: 5,
    },
    { title: "SEEN", of: ({ seenAt }) => `${roughAge(now - seenAt)} ago`, isRight: true, dropOrder: 4 },
    { title: "QUEUES", of: ({ queues }) => queues.join(","), dropOrder: 5 },
    {
      title: "WORKER",
      of: ({ worker, vitals }) => shortProcess(worker) + (vitals?.state === "draining" ? " draining" : ""),
      tone: ({ vitals }) => (vitals?.state === "draining" ? "yellow" : undefined),
      dropOrder: 0,
    },
  ];
}

export function rateOf(perSecond: number): string {
  return `${perSecond.toFixed(perSecond < 10 ? 1 : 0)}/s`;
}

/** A duration in whole seconds. Values that change with every snapshot would be hard to read. */
function roughTime(ms: number): string {
  return formatDuration(Math.max(1, Math.round(ms / 1000)) * 1000);
}
