/** Random jobs and calls for the property tests. The worlds are small, so that calls interact. */

import fc from "fast-check";
import type { SitePolicy } from "../../src/domain/politeness.ts";
import type { SlowdownCause } from "../../src/domain/slowdown.ts";
import type { NewTask } from "../../src/domain/task.ts";
import {
  aloneQueue,
  type NewJob,
  type Settlement,
  type TaskOutcome,
  type WorkerCommand,
} from "../../src/frontier/frontier.ts";
import { aJobSpec } from "../submit/a-job-spec.ts";

export const START_AT = 1_750_000_000_000;
export const QUEUES = ["fetch", "render"] as const;
/** The queues for the suspects of `QUEUES`. */
export const ALONE = QUEUES.map(aloneQueue);
export const SITES = ["s0.test", "s1.test", "s2.test"] as const;
export const WORKERS = ["w0", "w1", "w2"] as const;
const PAGES = 30;

export const URLS = SITES.flatMap((site) => Array.from({ length: PAGES }, (_, page) => `https://${site}/${page}`));

/**
 * A term to return, after `sends` requests. `unstarted`: tasks of the site that the worker has not started. `slowdown`:
 * undefined if it has not changed.
 */
export type TermUse = {
  term: number;
  sends: number;
  unstarted: number;
  slowdown: number | undefined;
  slowdownCause: SlowdownCause | undefined;
};

/** A number selects a job, grant or term, modulo how many exist. See frontier-pair.ts. */
export type Operation =
  | { do: "enqueue"; job: number; links: NewTask[] }
  | { do: "seal" | "pause" | "resume" | "cancel"; job: number }
  | { do: "forget"; job: number }
  | { do: "setPriority"; job: number; priority: number }
  | { do: "setPolicy"; job: number; policy: SitePolicy }
  | { do: "setLimits"; job: number; pages: number | null | undefined; deadlineMs: number | null | undefined }
  | { do: "setSitePolicy"; site: string; policy: SitePolicy | undefined }
  | {
      do: "lease";
      worker: string;
      queues: string[];
      max: number;
      maxNow: number;
      leaseMs: number;
      lookaheadMs: number;
      returned: TermUse[];
    }
  | { do: "settle"; settlements: (Omit<Settlement, "taskId" | "token"> & { grant: number })[] }
  | { do: "discover"; grant: number; links: NewTask[] }
  | { do: "release"; grants: number[] }
  | { do: "extend"; grants: number[]; leaseMs: number }
  | { do: "reap"; max: number }
  | { do: "abandon"; worker: string; crashed: number[] | undefined }
  /** A worker leases some tasks and crashes. */
  | { do: "crash"; queues: string[]; max: number }
  | { do: "openTerm"; worker: string; site: string; returned: TermUse | undefined }
  | { do: "returnTerms"; returned: TermUse[] }
  | { do: "keepRobots"; site: string; freshMs: number; crawlDelayMs: number }
  | { do: "replay"; job: number | undefined; limit: number; perSecond: number }
  | { do: "discard"; job: number | undefined; limit: number }
  | { do: "announce"; worker: string; queues: string[]; ttlMs: number }
  | { do: "withdraw"; worker: string }
  | { do: "commandWorker"; worker: string; command: WorkerCommand }
  | { do: "advance"; ms: number }
  | { do: "advanceToNextDue" };

/**
 * Half of the policies are lax. A site gets the strictest policy of its jobs, so without lax policies few tasks would
 * be due at once.
 */
const policies: fc.Arbitrary<SitePolicy> = fc.oneof(
  fc.constant({ intervalMs: 0, burst: 1, perSite: 6 }),
  fc.record({
    // Integer and fractional intervals: the fractional ones find rounding errors.
    intervalMs: fc.constantFrom(0, 100, 106.5373, 228.4986, 1000, 5000),
    burst: fc.constantFrom(1, 2, 3),
    perSite: fc.constantFrom(1, 2, 3, 6),
  }),
);

const sites = fc.constantFrom(...SITES);
const anyOne = fc.nat(1000);
const priorities = fc.constantFrom(0, 4, 5, 5, 5, 9);
const leases = fc.constantFrom(500, 2000, 30_000);

export const jobs: fc.Arbitrary<NewJob> = fc
  .record({
    priority: fc.constantFrom(0, 5, 5, 9),
    policy: policies,
    sites: fc.oneof(fc.constant({}), fc.dictionary(sites, policies, { maxKeys: 2 })),
    robots: fc.constantFrom(false, false, true),
    retries: fc.record({ max: fc.nat(2), backoffMs: fc.constantFrom(100, 1000) }),
    pages: fc.constantFrom(undefined, undefined, undefined, undefined, 5, 25),
    deadlineMs: fc.constantFrom(undefined, undefined, undefined, undefined, 8000, 60_000),
    dedup: fc.constantFrom<NewJob["dedup"][]>(
      { scope: "job" },
      { scope: "job" },
      { scope: "daily", expireAfterMs: 4000 },
    ),
  })
  .map(({ pages, deadlineMs, ...rest }) => ({
    ...rest,
    id: "",
    name: "random",
    queue: "fetch",
    limits: {
      ...(pages === undefined ? {} : { pages }),
      ...(deadlineMs === undefined ? {} : { deadlineAt: START_AT + deadlineMs }),
    },
    spec: aJobSpec({ urls: ["https://s0.test/"] }),
  }));

const links: fc.Arbitrary<NewTask> = fc
  .record({
    site: sites,
    page: fc.nat(PAGES - 1),
    queue: fc.constantFrom(...QUEUES, "fetch"),
    priority: priorities,
    depth: fc.nat(3),
    redirects: fc.constantFrom(undefined, undefined, 1),
    carry: fc.constantFrom(undefined, { from: "list" }),
    request: fc.constantFrom(undefined, undefined, { method: "POST" as const, body: "a b" }),
    handler: fc.constantFrom(undefined, "detail"),
  })
  .map(({ site, page, queue, priority, depth, redirects, carry, handler, request }) => ({
    url: `https://${site}/${page}`,
    site,
    kind: "fetch",
    queue,
    priority,
    depth,
    ...(redirects === undefined ? {} : { redirects }),
    ...(carry === undefined ? {} : { carry }),
    ...(request === undefined ? {} : { request }),
    ...(handler === undefined ? {} : { handler }),
  }));

const outcomes: fc.Arbitrary<TaskOutcome> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<TaskOutcome>({ kind: "done" }) },
  {
    weight: 3,
    arbitrary: fc.constantFrom<TaskOutcome[]>(
      { kind: "retry", because: "timeout" },
      { kind: "retry", because: "server_error", status: 500, detail: "oops" },
      { kind: "retry", because: "throttled", status: 429, retryAfterMs: 3000 },
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom<TaskOutcome[]>(
      { kind: "dead", because: "http_status", status: 404 },
      { kind: "dead", because: "handler_failed", detail: "undefined is not a function" },
      { kind: "refused", because: "robots" },
    ),
  },
);

const settlements = fc.record({
  grant: anyOne,
  outcome: outcomes,
  discovered: fc.array(links, { maxLength: 4 }),
  refusedLinks: fc.constantFrom(0, 0, 2),
  site: fc.constantFrom<Settlement["site"][]>(
    ...Array.from({ length: 9 }, () => ({ kind: "ok" }) as const),
    { kind: "unknown" },
    { kind: "throttled" },
    { kind: "throttled", cause: "503" },
    { kind: "throttled", cause: "429", retryAfterMs: 2500 },
    { kind: "throttled", cause: "robots" },
  ),
  tally: fc.record({ pages: fc.nat(1), records: fc.nat(3), invalid: fc.nat(1), bytes: fc.nat(1000) }),
});

const of = <Name extends string, Parts extends object>(
  name: Name,
  parts: { [Key in keyof Parts]: fc.Arbitrary<Parts[Key]> },
) => fc.record({ do: fc.constant(name), ...parts }) as unknown as fc.Arbitrary<{ do: Name } & Parts>;

const perhaps = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

const queueLists = fc.constantFrom<string[][]>(["fetch"], ["render"], ["fetch", "render"], ["render", "fetch"]);

export const submissions: fc.Arbitrary<Operation> = of("enqueue", {
  job: anyOne,
  links: fc.array(links, { maxLength: 15, size: "max" }),
});

const termUses: fc.Arbitrary<TermUse> = fc.record({
  term: fc.nat(20),
  sends: fc.constantFrom(0, 1, 1, 2, 5),
  unstarted: fc.constantFrom(0, 0, 0, 1, 2),
  slowdown: fc.constantFrom(undefined, undefined, 1, 1.25, 3.815, 16),
  slowdownCause: fc.constantFrom<(SlowdownCause | undefined)[]>(
    undefined,
    { kind: "errors", percent: 18, error: "503" },
    { kind: "latency", ms: 900, usualMs: 120 },
  ),
});

export const operations: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 16, arbitrary: submissions },
  {
    weight: 50,
    arbitrary: of("lease", {
      worker: fc.constantFrom(...WORKERS),
      queues: fc.oneof({ weight: 5, arbitrary: queueLists }, { weight: 1, arbitrary: fc.constant(ALONE) }),
      max: fc.constantFrom(1, 2, 3, 10, 10),
      maxNow: fc.constantFrom(0, 1, 10, 10, 10),
      leaseMs: leases,
      lookaheadMs: fc.constantFrom(0, 0, 100, 500),
      returned: fc.array(termUses, { maxLength: 2 }),
    }),
  },
  { weight: 70, arbitrary: of("settle", { settlements: fc.array(settlements, { minLength: 1, maxLength: 5 }) }) },
  { weight: 10, arbitrary: of("discover", { grant: anyOne, links: fc.array(links, { maxLength: 8 }) }) },
  { weight: 4, arbitrary: of("release", { grants: fc.array(anyOne, { maxLength: 3 }) }) },
  { weight: 4, arbitrary: of("extend", { grants: fc.array(anyOne, { maxLength: 3 }), leaseMs: leases }) },
  { weight: 8, arbitrary: of("reap", { max: fc.constantFrom(1, 100) }) },
  {
    weight: 2,
    arbitrary: of("abandon", {
      worker: fc.constantFrom(...WORKERS),
      crashed: perhaps(fc.array(anyOne, { maxLength: 3 })),
    }),
  },
  {
    weight: 10,
    arbitrary: of("crash", {
      queues: fc.constantFrom<string[][]>([...QUEUES], [...QUEUES], ALONE, [...ALONE, ...QUEUES]),
      max: fc.constantFrom(1, 3, 6),
    }),
  },
  {
    weight: 6,
    arbitrary: of("openTerm", { worker: fc.constantFrom(...WORKERS), site: sites, returned: perhaps(termUses) }),
  },
  { weight: 20, arbitrary: of("returnTerms", { returned: fc.array(termUses, { minLength: 1, maxLength: 3 }) }) },
  {
    weight: 6,
    arbitrary: of("keepRobots", {
      site: sites,
      freshMs: fc.constantFrom(0, 3000, 1e9, 1e9),
      crawlDelayMs: fc.constantFrom(0, 0, 0, 400, 2000),
    }),
  },
  { weight: 1, arbitrary: of("seal", { job: anyOne }) },
  { weight: 1, arbitrary: of("pause", { job: anyOne }) },
  { weight: 6, arbitrary: of("resume", { job: anyOne }) },
  { weight: 1, arbitrary: of("cancel", { job: anyOne }) },
  { weight: 2, arbitrary: of("forget", { job: anyOne }) },
  { weight: 3, arbitrary: of("setPriority", { job: anyOne, priority: fc.constantFrom(0, 2, 5, 9) }) },
  { weight: 3, arbitrary: of("setPolicy", { job: anyOne, policy: policies }) },
  {
    weight: 3,
    arbitrary: of("setLimits", {
      job: anyOne,
      pages: fc.constantFrom(undefined, null, 3, 10, 40),
      deadlineMs: fc.constantFrom(undefined, undefined, null, 4000, 30_000, 90_000),
    }),
  },
  { weight: 2, arbitrary: of("setSitePolicy", { site: sites, policy: perhaps(policies) }) },
  {
    weight: 4,
    arbitrary: of("replay", {
      job: perhaps(anyOne),
      limit: fc.constantFrom(1, 100),
      perSecond: fc.constantFrom(0.5, 1, 3),
    }),
  },
  { weight: 1, arbitrary: of("discard", { job: perhaps(anyOne), limit: fc.constantFrom(1, 100) }) },
  {
    weight: 3,
    arbitrary: of("announce", {
      worker: fc.constantFrom(...WORKERS),
      queues: fc.constantFrom<string[][]>(["fetch"], ["fetch", "render"]),
      ttlMs: fc.constantFrom(100.5, 5000.5),
    }),
  },
  { weight: 1, arbitrary: of("withdraw", { worker: fc.constantFrom(...WORKERS) }) },
  {
    weight: 1,
    arbitrary: of("commandWorker", {
      worker: fc.constantFrom(...WORKERS),
      command: fc.constantFrom<WorkerCommand[]>("drain", "recycle"),
    }),
  },
  {
    weight: 14,
    arbitrary: of("advance", {
      ms: fc.constantFrom(0.25, 1, 50, 50, 100, 100, 262.5, 262.5, 1000, 1000, 5000, 70_000, 700_000),
    }),
  },
  { weight: 50, arbitrary: fc.constant<Operation>({ do: "advanceToNextDue" }) },
);
