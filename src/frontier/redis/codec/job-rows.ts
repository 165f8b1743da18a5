/** Decodes jobs from replies of the scripts (lib/job-view.lua). Each shard has its own row of a job. */
import type { JobState, Ledger } from "../../../domain/job.ts";
import type { JobSpec } from "../../../domain/job-spec.ts";
import type { SitePolicy } from "../../../domain/politeness.ts";
import type { Tally } from "../../frontier.ts";
import type { JobView } from "../../frontier-admin.ts";
import type { Reply } from "../connection/broker-client.ts";
import type { BrokerClock } from "../connection/broker-clock.ts";

export type JobRow = {
  n: number;
  id: string;
  name: string;
  state: JobState;
  sealed: boolean;
  queue: string;
  priority: number;
  /** In the broker's time, as are all times here. */
  createdAt: number;
  finishedAt: number | undefined;
  counts: Ledger;
  tally: Tally;
  retriesMax: number;
  admitted: number;
  generation: number;
  /**
   * Whether the job is sealed on this shard, and all changes of the job have been applied to the job's lanes there
   * (docs/glossary.md). After sumCounts: whether this is true for every shard.
   */
  isInSync: boolean;
  spec: string;
  policy: SitePolicy;
  /** The limit of this shard. With several shards, `pageTotal` of the owner shard is the job's limit. */
  pageLimit: number | undefined;
  pageTotal: number | undefined;
  deadlineAt: number | undefined;
};

/** The number of values per job in a reply: the job number, then the fields of VIEW in lib/job-view.lua. */
const FIELDS_PER_JOB = 34;

/** The same as NO_LIMIT in lib/stop-job.lua. */
const NO_LIMIT = 9e15;

/** Decodes a reply of find-job or of a list of jobs. */
export function decodeJobs(reply: Reply): JobRow[] {
  const rows: JobRow[] = [];
  for (let at = 1; at + FIELDS_PER_JOB <= reply.length; at += FIELDS_PER_JOB)
    rows.push(decodeJob(reply.slice(at, at + FIELDS_PER_JOB)));
  return rows;
}

function decodeJob(fields: Reply): JobRow {
  const text = (nth: number) => String(fields[nth]);
  const number = (nth: number) => Number(fields[nth]);
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
    isInSync: number(4) === 1 && text(26) === "",
    spec: text(27),
    policy: { intervalMs: number(28), burst: number(29), perSite: number(30) },
    pageLimit: optional(31),
    pageTotal: optional(32),
    deadlineAt: optional(33),
  };
}

/** The owner shard's row with the counts of all shards. */
export function sumCounts(owner: JobRow, all: readonly JobRow[]): JobRow {
  const [counts, tally] = [sum(all.map((row) => row.counts)), sum(all.map((row) => row.tally))];
  return { ...owner, counts, tally, isInSync: all.every((row) => row.isInSync) };
}

function sum<Counts extends Record<string, number>>(rows: readonly Counts[]): Counts {
  const names = Object.keys(rows[0] ?? {});
  return Object.fromEntries(
    names.map((name) => [name, rows.reduce((total, row) => total + (row[name] ?? 0), 0)]),
  ) as Counts;
}

export function viewOf(
  row: JobRow,
  time: Pick<BrokerClock, "toLocal">,
  parseSpec: (jobId: string, text: string) => JobSpec,
): JobView {
  const { id, name, state, sealed, queue, priority, policy, counts, tally } = row;
  const pages = row.pageTotal ?? row.pageLimit;
  return {
    ...{ id, name, state, sealed, queue, priority, policy, counts, tally },
    limits: {
      pages: pages === NO_LIMIT ? undefined : pages,
      deadlineAt: row.deadlineAt === undefined ? undefined : time.toLocal(row.deadlineAt),
    },
    createdAt: time.toLocal(row.createdAt),
    finishedAt: row.finishedAt === undefined ? undefined : time.toLocal(row.finishedAt),
    spec: parseSpec(id, row.spec),
  };
}
