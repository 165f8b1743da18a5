/** Jobs as the scripts tell of them (lib/view.lua), one row a shard, and added up. */
import type { JobState, Ledger } from "../../domain/job.ts";
import type { SitePolicy } from "../../domain/politeness.ts";
import type { Tally } from "../frontier.ts";
import type { JobView } from "../frontier-admin.ts";
import type { Reply } from "./broker.ts";
import type { BrokerTime } from "./broker-time.ts";

export type JobRow = {
  n: number;
  id: string;
  name: string;
  state: JobState;
  sealed: boolean;
  queue: string;
  priority: number;
  /** In the broker's time, like all of these. */
  createdAt: number;
  finishedAt: number | undefined;
  counts: Ledger;
  tally: Tally;
  retriesMax: number;
  admitted: number;
  generation: number;
  /** Every shard has sealed it, and has none of its lanes left that must follow a change. */
  isInLine: boolean;
  spec: string;
  policy: SitePolicy;
  /** As this shard counts them; over several shards the home shard has the total. */
  pageLimit: number | undefined;
  pageTotal: number | undefined;
  deadlineAt: number | undefined;
};

/** In the order of VIEW in lib/view.lua, with the number in front. */
const FIELDS = 34;

/** As NO_LIMIT in lib/stop.lua. */
const NO_LIMIT = 9e15;

/** Reads a reply of find-job or list-jobs. */
export function readJobs(reply: Reply): JobRow[] {
  const rows: JobRow[] = [];
  for (let at = 1; at + FIELDS <= reply.length; at += FIELDS) rows.push(readJob(reply.slice(at, at + FIELDS)));
  return rows;
}

function readJob(words: Reply): JobRow {
  const text = (nth: number) => String(words[nth]);
  const number = (nth: number) => Number(words[nth]);
  const optional = (nth: number) => (text(nth) === "" ? undefined : number(nth));
  return {
    n: number(0),
    id: text(1),
    name: text(2),
    state: text(3) as JobState,
    sealed: number(4) === 1,
    queue: text(5),
    priority: number(6),
    createdAt: number(7),
    finishedAt: optional(8),
    counts: {
      submitted: number(9),
      discovered: number(10),
      queued: number(11),
      delayed: number(12),
      leased: number(13),
      done: number(14),
      dead: number(15),
      cancelled: number(16),
      duplicate: number(17),
      refused: number(18),
    },
    tally: { pages: number(19), records: number(20), invalid: number(21), bytes: number(22) },
    retriesMax: number(23),
    admitted: number(24),
    generation: number(25),
    isInLine: number(4) === 1 && text(26) === "",
    spec: text(27),
    policy: { intervalMs: number(28), burst: number(29), perSite: number(30) },
    pageLimit: optional(31),
    pageTotal: optional(32),
    deadlineAt: optional(33),
  };
}

/** The home shard's row with the counts of all. */
export function addUp(home: JobRow, all: readonly JobRow[]): JobRow {
  const [counts, tally] = [sum(all.map((row) => row.counts)), sum(all.map((row) => row.tally))];
  return { ...home, counts, tally, isInLine: all.every((row) => row.isInLine) };
}

function sum<Counts extends Record<string, number>>(rows: readonly Counts[]): Counts {
  const names = Object.keys(rows[0] ?? {});
  return Object.fromEntries(
    names.map((name) => [name, rows.reduce((total, row) => total + (row[name] ?? 0), 0)]),
  ) as Counts;
}

export function viewOf(row: JobRow, time: Pick<BrokerTime, "toHere">): JobView {
  const { id, name, state, sealed, queue, priority, policy, counts, tally } = row;
  const pages = row.pageTotal ?? row.pageLimit;
  return {
    ...{ id, name, state, sealed, queue, priority, policy, counts, tally },
    limits: {
      pages: pages === NO_LIMIT ? undefined : pages,
      deadlineAt: row.deadlineAt === undefined ? undefined : time.toHere(row.deadlineAt),
    },
    createdAt: time.toHere(row.createdAt),
    finishedAt: row.finishedAt === undefined ? undefined : time.toHere(row.finishedAt),
    spec: JSON.parse(row.spec) as unknown,
  };
}
