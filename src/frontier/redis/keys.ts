/**
 * Every key of a broker on Redis, and the memory that it takes. All keys of a shard have its hash tag, so they are in
 * one slot of a cluster: `trawl:{0}:site:7` is site 7 of shard 0. The suspects of the queue `fetch` wait on the queue
 * `fetch!alone`. docs/operations.md has the totals.
 */
export const KEYS = {
  meta: "hash: schema version, shards, next numbers, waiting tasks, run id of the server, its last restart; one",
  jobs: "hash: job id -> number; about 90 bytes per job",
  "job:<job>": "string: a job's settings and ledger, packed; 300 bytes per job",
  "about:<job>": "hash: its name, queue and spec",
  "job-order": "sorted set: job numbers by creation",
  open: "sorted set: numbers of jobs that have not ended, by creation, on their owner shard",
  ended: "sorted set: job numbers by end, on their owner shard",
  forgotten: "sorted set: numbers of forgotten jobs that still have data",
  "job-lanes:<job>": "sorted set: the job's lanes by creation; 110 bytes per lane",
  "job-sites:<job>": "hash: site -> counters of the job there, packed; 100 bytes per site",
  "job-site-names:<job>": "sorted set: the same sites by name; 90 bytes per site",
  "job-dead:<job>": "sorted set: failed tasks; 80 bytes each",
  "rules:<job>": "hash: site -> policy, where the job has special rules",
  deadlines: "sorted set: jobs by deadline",
  unsynced: "sorted set: jobs whose lanes are not updated yet after a change, in the order of the changes",
  untold: "set: jobs whose last state has not been applied on all other shards",
  scopes: "hash: dedup scope -> number",
  "scope:<scope>": "hash: number of URLs seen, and how its buckets are split",
  "seen:<scope>:<bucket>": "set of 64-bit integers, 90 to 360 in each, fewer at first; about 10 bytes per URL in total",
  "lapse:<scope>": "hash: fingerprint -> until, job, task, for scopes whose entries expire; 110 bytes per URL",
  lapsing: "sorted set: scopes whose entries expire, by the time of the next scan",
  sites: "hash: site -> number; 80 bytes per site",
  "site:<site>": "string: politeness, policy, term and turns, packed; 200 to 290 bytes per site",
  "backoff-causes": "hash: site -> end and cause of its last backoff; 70 bytes per site that had one",
  health:
    "hash: site -> slowdown, whether its errors are isolated, cause of the slowdown; 80 to 130 bytes per site that had trouble",
  "robots:<site name>": "hash: robots.txt as last fetched",
  "scripted:<site name>": "string: until when the site counts as needing a browser; 130 bytes, expires",
  "value:<key>": "string: a shared value with its version and its expiry; 130 bytes and the value, expires",
  "lane:<lane>": "string: counts of the tasks of one job at one site, packed; 160 bytes per lane",
  "lanes:<site>:<rank>:<queue>":
    "sorted set: lanes with tasks, by service number or retry time; only if the turn has several",
  "tasks:<lane>": "list: tasks never granted, packed; the URL's path and 12 bytes each, and 150 bytes per lane",
  "back:<lane>": "sorted set: tasks queued again after a lease",
  "delayed:<lane>": "sorted set: tasks that wait for a retry, by time",
  "due:<rank>:<queue>":
    "sorted set: sites without a rate by due time; a lease call reads only sites that are due; 100 bytes per site",
  "due-paced:<rank>:<queue>": "the same for sites with a rate",
  leases: "hash: task -> the data needed to queue it again; 200 bytes each, one per leased task",
  expiry: "sorted set: leased tasks by lease end",
  holders: "hash: worker -> number of its leases",
  "held:<worker>": "set: tasks of a worker",
  dead: "hash: task -> dead letter; 300 bytes each plus its history",
  "dead-order": "sorted set: failed tasks",
  waiting: "hash: queue -> waiting tasks",
  "site-waiting": "hash: site -> waiting tasks; 60 bytes per site",
  ranks: "hash: queue -> priorities it ever had",
  "idle:<queue>": "sorted set: wake-up channels of idle workers, by time",
  alarm: "hash: queue -> time of the next lease call of its watcher, and the watcher's channel",
  "receipt:<caller>": "string: the last reply to a caller, for an hour; a few per process, 150 bytes each",
  workers: "hash: worker -> its announcement",
  orders: "hash: worker -> the command to it",
  "wake:<process>": "a channel, not a key: tasks may have become leasable",
} as const;

/** The start of all keys of one shard. */
export function shardKey(prefix: string, index: number): string {
  return `${prefix}:{${index}}`;
}
