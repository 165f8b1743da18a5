/**
 * Every key of a broker on Redis, and what it costs. All of a shard carry its hash tag, so that they live in one slot of
 * a cluster; `trawl:{0}:site:7` is site 7 of shard 0, and a queue `fetch!alone` has the suspects of `fetch`.
 * docs/operations.md tells what they add up to.
 */
export const KEYS = {
  meta: "hash: schema version, shards, next numbers, how many wait, the server's last run; one",
  jobs: "hash: job id -> number; some 90 bytes a job",
  "job:<job>": "string: a job's settings and ledger, packed; 300 bytes a job",
  "about:<job>": "hash: its name, queue and spec",
  "job-order": "sorted set: job numbers by creation",
  open: "sorted set: numbers of jobs that have not ended, by creation, on their home shard",
  ended: "sorted set: job numbers by their end, on their home shard",
  forgotten: "sorted set: numbers of forgotten jobs of which something is left",
  "job-lanes:<job>": "sorted set: the job's lanes in order of their making; 110 bytes a lane",
  "job-sites:<job>": "hash: site -> what the job has had there, packed; 100 bytes a site",
  "job-site-names:<job>": "sorted set: the same sites by name; 90 bytes a site",
  "job-dead:<job>": "sorted set: tasks given up on; 80 bytes each",
  "rules:<job>": "hash: site -> policy, where the job has special rules",
  deadlines: "sorted set: jobs by when their time is out",
  unsynced: "zset: jobs whose lanes have yet to follow a change, in the order of the changes",
  untold: "set: jobs that other shards have yet to hear the latest about",
  scopes: "hash: dedup scope -> number",
  "scope:<scope>": "hash: how many it has seen, and how its buckets are split",
  "seen:<scope>:<bucket>": "set of 64-bit integers, 90 to 360 in each; about 10 bytes a URL all in",
  "lapse:<scope>": "hash: fingerprint -> until, job, task, where entries lapse; 110 bytes a URL",
  lapsing: "sorted set: scopes whose entries lapse, by when lapsed ones are next looked for",
  sites: "hash: site -> number; 80 bytes a site",
  "site:<site>": "string: politeness, policy and turns, packed; 200 to 250 bytes a site",
  "robots:<site name>": "hash: robots.txt as last seen",
  "scripted:<site name>": "string: until when a site is thought to need a browser; 130 bytes, and gone after that",
  "lane:<lane>": "string: counts of what one job has waiting at one site, packed; 160 bytes a lane",
  "lanes:<site>:<rank>:<queue>": "sorted set: lanes that may go, by turn, or by time; only where a site has several",
  "tasks:<lane>": "list: tasks never granted, packed; the URL's path and 12 bytes each, and 150 bytes a lane",
  "back:<lane>": "sorted set: tasks handed back",
  "delayed:<lane>": "sorted set: tasks that wait for another try, by time",
  "due:<rank>:<queue>":
    "sorted set: sites by when they may next be hit: all that a lease call looks at; 100 bytes a site",
  leases: "hash: task -> what it takes to hand it back; 200 bytes each, as many as requests are under way",
  expiry: "sorted set: leased tasks by when their lease ends",
  holders: "hash: worker -> leases it holds",
  "held:<worker>": "set: tasks a worker holds",
  dead: "hash: task -> dead letter; 300 bytes each and its history",
  "dead-order": "sorted set: tasks given up on",
  waiting: "hash: queue -> how many wait",
  "site-waiting": "hash: site -> how many wait; 60 bytes a site",
  ranks: "hash: queue -> priorities it has ever had",
  "idle:<queue>": "sorted set: workers with room to spare",
  alarm: "hash: queue -> which worker looks when",
  "receipt:<caller's desk>": "string: what a call was answered, for an hour; a few a process, 150 bytes each",
  workers: "hash: worker -> what it says of itself",
  orders: "hash: worker -> what is asked of it",
  "wake:<worker's ear>": "no key but a channel: something may have become leasable",
} as const;

/** What the keys of one shard begin with. */
export function shardKey(prefix: string, index: number): string {
  return `${prefix}:{${index}}`;
}
