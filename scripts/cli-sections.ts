/** The words of docs/cli.md around what the program says of itself. */

/** The examples of a command run as written (test/readme.test.ts), with JOB for a job's id. */
export type CliSection = { examples: readonly string[]; notes?: string };

export const INTRODUCTION = `# The command line

In a clone the command is \`npx trawl\`; where the package is installed globally, \`trawl\`. Every command explains itself
with \`--help\`.

Results go to stdout, everything else to stderr: progress, reports, errors. On a terminal progress is a block that is
redrawn; elsewhere it is a line now and then, \`pages=312 rate=48.2/s queue=120 in_flight=8 failed=1 eta=3s\`.

All commands work on the broker and the store of the folder they run in. These flags are the same everywhere:

| flag | meaning |
|---|---|
| \`--broker <url>\` | where the frontier lives; \`sqlite:.trawl/broker.db\` unless [the configuration](config.md) names another. A password is better kept in \`TRAWL_BROKER\`: others can read the arguments of a process |
| \`--store <url>\` | where pages and records live; \`sqlite:.trawl/store.db\` unless the configuration names another |
| \`--api <url>\` | ask [a server](api.md), \`trawl serve\`, in place of broker and store; \`TRAWL_API\` unless given, and \`none\` for neither. Its key is \`TRAWL_API_KEY\`, never a flag |
| \`--log-level <level>\` | least level of [log lines](observability.md#the-log) on stderr: \`debug\`, \`info\`, \`warn\` (the default), \`error\`, \`silent\` |
| \`--json\` | one JSON object as the last line of stdout; its shapes are below |

Commands that have \`--api\` say the same through a server as without one. \`--broker\` and \`--store\` beat \`TRAWL_API\`. \`crawl\`, \`try\`, \`worker\`, \`serve\`,
\`up\`, \`doctor\` and \`demo\` do their work themselves and take no notice of it.

| exit code | means |
|---|---|
| 0 | done; dead letters are reported, and no failure unless \`--strict\` is given |
| 1 | the work failed: no page could be fetched, the job was cancelled, \`try\` got no page, or \`--strict\` and something failed |
| 2 | usage, configuration, or a job, URL or selector that is wrong |
| 3 | broker or store cannot be reached, opened or written; or the server of \`--api\` cannot be reached |
| 130 | interrupted by Ctrl-C, SIGTERM or SIGHUP; nothing is lost, see [--resume](#trawl-crawl) |

Errors are one line on stderr, \`trawl: CODE: what happened and what to change\`; [errors.md](errors.md) lists the codes.`;

const JOB_FIELDS = `"id": "jmwiapq7ve90649", "requestId": "rmwiapq7v1f20c93d4b", "name": "shop", "state": "finished",
  "sealed": true, "queue": "fetch", "priority": 5, "politeness": { "rate": "4/s", "burst": 1, "perSite": 4 },
  "limits": { "pages": 500, "seconds": null }, "rate": 68.385, "etaSeconds": null,
  "counts": { "submitted": 1, "discovered": 9680, "queued": 0, "delayed": 0, "leased": 0,
              "done": 420, "dead": 1, "cancelled": 0, "duplicate": 8507, "refused": 753 },
  "tally": { "pages": 419, "records": 419, "invalid": 0, "bytes": 2431675 },
  "createdAt": "2026-11-15T20:37:12.576Z", "finishedAt": "2026-11-15T20:37:18.703Z", "archived": false`;

export const SECTIONS: Readonly<Record<string, CliSection | undefined>> = {
  crawl: {
    examples: [
      "npx trawl crawl https://books.toscrape.com/ --out pages.jsonl",
      "npx trawl crawl http://127.0.0.1:8321/ -e title=h1 -e 'price=.price|number' --exclude '/tag/**' --out products.csv",
      "npx trawl crawl http://127.0.0.1:8321/about/ http://127.0.0.1:8321/cafe/ --follow none > two.jsonl",
      "npx trawl crawl examples/shop.ts --max-pages 50",
      "npx trawl crawl --resume",
    ],
    notes: `**What it takes.** URLs, as many as you like; \`urls.txt\` or \`-\` (stdin), one URL a line, \`#\` for comments; or one
[spider](spiders.md) or one [job.json](jobs.md). Flags win over what a spider or job says; what neither says comes from
[the configuration](config.md).

**What it gives.** One record per page, or what \`-e\` ([extraction rules](extraction.md)) or the spider makes of it. Every
record also has \`_url\`, \`_status\`, \`_fetchedAt\`, \`_job\` and \`_depth\`. With \`--out\` they are written when the crawl ends,
also when it is interrupted: \`.jsonl\` (one object a line), \`.csv\` or \`.json\` (one array); the file takes its name only
when it is whole. Without \`--out\`, a pipe gets JSON lines as they come, and on a terminal the records stay in the store,
for [\`trawl records\`](#trawl-records).

**Where it goes.** Links on the start URLs' own sites, unless \`--scope\`, \`--include\`, \`--exclude\` or \`--follow\` say
otherwise. The hosts you type may be on a private network; hosts that links lead to may not ([politeness](politeness.md)).

**Processes.** A crawl works in its own process, which is all that most sites' limits leave to do. With \`--processes\` it
supervises processes that do, as [\`trawl worker\`](#trawl-worker) does: for many sites or costly handlers, and for handlers that
may crash or hang.

**Stopping and going on.** Ctrl-C once lets running requests finish, twice ends at once; \`kill -9\` is safe as well.
\`--resume\` goes on with the crawl that was interrupted last, \`--resume JOB\` with that one; \`--resume\` before the same
target and flags as before goes on with that crawl, or begins it. A resumed crawl keeps the settings it was begun with.

**\`--json\`** prints the job with \`pages\`, \`records\`, \`invalid\` and \`seconds\`, and \`out\` where there is one:

\`\`\`json
{ ${JOB_FIELDS},
  "pages": 419, "records": 419, "invalid": 0, "seconds": 6.123, "out": "shop.jsonl" }
\`\`\``,
  },
  try: {
    examples: [
      "npx trawl try http://127.0.0.1:8321/product/oak-mug-101/ -e title=h1 -e 'price=.price|number!' -e sku=jsonld:Product.sku",
      "npx trawl try http://127.0.0.1:8321/ --follow '.tile' --json",
    ],
    notes: `The place to find selectors before a crawl. It asks robots.txt and keeps the site's rate like everything else, and needs
neither broker nor store. Redirects are followed and shown. Exit code 1 and a reason where no page came.

**\`--json\`** prints \`{ page, charset, records, invalid, links }\`; without a page \`{ url, hops, because, status, detail }\`.`,
  },
  submit: {
    examples: [
      "npx trawl submit http://127.0.0.1:8321/ --max-pages 20 --rate 50/s",
      "npx trawl submit http://127.0.0.1:8321/about/ --follow none --queue high_priority --priority 0 --json",
      "npx trawl submit examples/shop.json",
      "printf 'http://127.0.0.1:8321/about/\\nhttp://127.0.0.1:8321/cafe/\\n' | npx trawl submit - --follow none",
    ],
    notes: `Takes what [\`crawl\`](#trawl-crawl) takes and makes the same job of it, but queues it for [workers](#trawl-worker) instead of
running it here. Lists are read as they are queued, so they may be of any length; where the broker is full
(\`TRAWL_MAX_PENDING\`) it waits for the workers and goes on. A URL that cannot be fetched is refused and the others are
taken; where not one is good it ends with \`BAD_URL\` and submits nothing.

**Private networks.** A host you type may be on a private network in a crawl; a worker does not know who typed it and has to
be told with \`TRAWL_ALLOW_PRIVATE\`. \`submit\` says so where it can tell.

**Spiders** are loaded by the workers, from the same path. A worker that cannot load one makes dead letters of its tasks
(\`handler_failed\`), which [\`dead --replay\`](#trawl-dead) brings back, and \`trawl doctor\` names it.

**Stopping.** Ctrl-C says how far it got; the job waits for the rest of its URLs. \`--resume JOB\` with the same list goes on:
what is there already counts as duplicate.

**\`--json\`** prints one object; \`refused\` has the first 1,000 (then \`refusedCount\` counts them all), \`index\` is the place in the
list, from 0. With \`--wait\` the job follows, as \`crawl\` has it:

\`\`\`json
{ "id": "jmwiapq7ve90649", "requestId": "rmwiapq7v1f20c93d4b", "accepted": 2, "duplicates": 1,
  "refused": [{ "index": 3, "url": "nonsense", "reason": "not an absolute http(s) URL without credentials" }] }
\`\`\``,
  },
  worker: {
    examples: [
      "TRAWL_ALLOW_PRIVATE=127.0.0.0/8 npx trawl worker --drain",
      "npx trawl worker --queues high_priority,fetch -c 64 --drain",
      "npx trawl worker --processes 2 --time-limit 120 --max-memory-per-child 512 --max-tasks-per-child 5000 --drain",
    ],
    notes: `Runs until it is stopped; with \`--drain\` until nothing waits on its queues and nothing of them is under way. Start as many as
there are cores, on as many machines as share the broker: limits per site hold for all of them together.

Ctrl-C, SIGTERM or SIGHUP: no more leases, what runs gets \`TRAWL_GRACE\` to finish, the rest goes back untouched, exit code 0. A second
one ends it at once, with 130; its tasks go back as soon as another worker sees that it is dead, or when their leases end. A
broker that stays away longer than \`TRAWL_BROKER_PATIENCE\` ends it with 3.

**Processes.** The worker does not work itself but supervises processes that do, one or as many as \`--processes\` says, each with
its own \`--concurrency\`. So Ctrl-C and limits work whatever a handler does. A process that dies (a crash, out of memory,
\`process.exit()\` in a handler) is named with the pages it was reading; what else it had in hand goes back untouched, and another
is started: without delay if it had been of use, else after 1, 2, 4 … 30 s. If the supervisor is killed, its processes finish
within \`TRAWL_GRACE\` and end.

| what a handler does to its process | what becomes of the page |
|---|---|
| never lets go of it (\`for (;;);\`), past \`--time-limit\` or two thirds of \`TRAWL_LEASE\` | the process is killed, and the page a dead letter, \`time_limit\`, at once |
| lets go of it, but never ends (\`await\` for something that does not come) | a dead letter, \`time_limit\`, past \`--time-limit\` or \`--soft-time-limit\`; \`handler_failed\` past \`TRAWL_HANDLER_TIMEOUT\` |
| kills it: \`process.abort()\`, \`process.exit()\`, memory | it is tried again, from the third time on alone; if that process dies too, a dead letter, \`crashed_worker\`, that says how |

| limit | what happens past it |
|---|---|
| \`--soft-time-limit\` | the task is told to end: tried again later while it waits for its site (\`timeout\`), a dead letter \`time_limit\` if it is its handler that takes so long |
| \`--time-limit\` | the same, and a process that cannot even be told, because a handler never lets go of it, is killed |
| \`--max-tasks-per-child\` | the process takes no more tasks and ends with the last; the next has begun by then |
| \`--max-memory-per-child\` | as above; its heap gets no more than that, and at twice as much in all it is killed |

The time of a task counts from its lease, waiting for its site included. With \`--pool solo\` there is no supervisor: this process
ends with 0 where one would be replaced, for systemd or Kubernetes to start again, and nobody kills it when it is stuck: neither
the time limit nor Ctrl-C ends a handler that never lets go, only \`kill -9\` does.

It takes the tasks of every job on its queues. Crawls have queues of their own, which no worker serves.

**\`--json\`** makes what it says on stderr JSON lines (\`worker.started\`, \`worker.job_finished\`, \`worker.stopping\`,
\`worker.stopped\`; \`pool.process_started\`, \`pool.process_ended\`, \`pool.process_died\`, \`pool.process_failed\`, \`pool.process_waits\`), and prints at the end \`{ worker, queues, tasks, pages, records, seconds }\`.`,
  },
  serve: {
    examples: [],
    notes: `Takes jobs over HTTP and answers questions about them; [api.md](api.md) shows how, and the server itself describes every
request at \`/docs\` and \`/openapi.json\`. It does no work: start [workers](#trawl-worker) beside it, on the same broker and store. Any number of
them may run side by side. Without keys it listens on this machine alone. \`--json\` prints \`{ url }\` once it listens.`,
  },
  schedule: {
    examples: [
      "npx trawl schedule add http://127.0.0.1:8321/ --name nightly --cron '0 3 * * *' --time-zone Europe/Berlin --max-pages 50",
      "npx trawl schedule add http://127.0.0.1:8321/about/ --follow none --every 15m --overlap replace",
      "npx trawl schedule",
      "npx trawl schedule add http://127.0.0.1:8321/ --name nightly --every 1d && npx trawl schedule show nightly",
      "npx trawl schedule add http://127.0.0.1:8321/ --name now --every 1d && npx trawl schedule run now",
    ],
    notes: `Takes what [\`trawl submit\`](#trawl-submit) takes, and when; [schedules.md](schedules.md) says what becomes of every slot.
[\`trawl serve\`](#trawl-serve) fires them, on the same store and broker. \`list\` is what it does without a word.

**\`--json\`** prints the schedule (\`id\`, \`name\`, \`cron\`, \`timeZone\`, \`every\`, \`overlap\`, \`catchUp\`, \`catchUpMost\`, \`paused\`, \`nextAt\`,
\`createdAt\`, \`job\`); for \`show\` with \`next\` and \`runs\` (\`at\`, \`kind\`, \`state\`, \`because\`, \`jobId\`, \`endedAt\`), for \`run\` one of those,
for \`list\` \`{ "schedules": [ … ] }\`, for \`remove\` \`{ "id", "removed" }\`.`,
  },
  up: {
    examples: ["npx trawl up", "npx trawl up --fetch 2 --render 0 --queue high_priority=1 --no-serve"],
    notes: `Starts the [control plane](#trawl-serve) with its dashboard, whose address it prints, and [workers](#trawl-worker) of every
kind, all under one supervisor. A server that dies is replaced at the same address, and the workers do not notice. \`--no-serve\` leaves it
out: for machines that only work, and for a second \`trawl up\` on one machine, which would find the port taken and end with 2.

\`--fetch\` processes serve the queue \`fetch\`, \`--render\`
the queue \`render\`, \`--parse\` the queue \`parse\`, and \`--queue name=n\` one of your own. 0 starts none of a kind; without
\`--render\` there is one where Chromium is found. \`-c\` is for
those that fetch. Processes are watched, limited, replaced and stopped as those of \`trawl worker\` are, and a broker or store that
is lost ends all of them with 3. It goes on until it is stopped: to end when nothing is left, use \`trawl worker --drain\`.

What its processes print comes as one stream on stderr, each line with the name of its process: \`fetch 1 | …\`. **\`--json\`** makes
them JSON lines with \`group\` and \`process\` (what is no log line is a \`worker.said\` with its \`text\`), and prints at the end
\`{ groups, tasks, pages, records, seconds }\`. The line \`up.started\` has the server's \`url\`.`,
  },
  keys: {
    examples: [
      "npx trawl keys add operator --scopes admin",
      "npx trawl keys add ci --tenant acme --expires 90d --max-pending 100000 --max-rate 500 --max-jobs 20",
      "npx trawl keys",
      "npx trawl keys add guest --expires 12h > guest.key && npx trawl keys revoke guest",
    ],
    notes: `Works on the store itself, so the first key can be made before a server runs. \`add\` prints the key alone on stdout, this
once; only its hash is kept. What keys may do, and what quotas limit, is in [api.md](api.md#who-may-ask). \`revoke\` takes an id, or a name
that one good key has; the key stays in the list.

**\`--json\`** prints for \`add\` the key as \`POST /v1/keys\` does, \`key\` included; for \`list\` \`{ "keys": [{ id, name, tenant, scopes, quotas, state,
createdAt, expiresAt, lastUsedAt, revokedAt }] }\`; for \`revoke\` that key.`,
  },
  jobs: {
    examples: [
      "npx trawl jobs",
      "npx trawl jobs --state finished --search 127.0.0.1",
      "npx trawl jobs --limit 3 --json",
    ],
    notes: `**\`--json\`** prints \`{ "jobs": [ … ] }\`, each as [\`trawl job\`](#trawl-job) has it. A crawl that was interrupted is
\`paused\`; one that was killed is still \`running\`. Both wait for someone to go on with them.`,
  },
  job: {
    examples: ["npx trawl job JOB", "npx trawl job JOB --json"],
    notes: `The ledger balances at any instant: submitted + discovered is the sum of all the rest. [The states](state-machine.md).

**\`--json\`**:

\`\`\`json
{ ${JOB_FIELDS} }
\`\`\``,
  },
  records: {
    examples: [
      "npx trawl records JOB > records.jsonl",
      "npx trawl records JOB --out records.csv",
      "npx trawl records JOB --invalid",
    ],
    notes: `Also while the crawl runs. In CSV, text that a spreadsheet would take for a formula gets an apostrophe in front.
\`--invalid\` prints the records that failed their schema or lack a required field, each with \`_url\` and \`_reason\`.

**\`--json\`** with \`--out\` prints \`{ "id", "records", "out" }\`.`,
  },
  dead: {
    examples: [
      "npx trawl dead",
      "npx trawl dead JOB --list",
      "npx trawl dead JOB --reason http_status --status 404 --discard",
      "npx trawl dead JOB --replay --per-second 5",
    ],
    notes: `What each reason means is in [errors.md](errors.md#why-a-task-is-dead). Replaying queues the URLs again and lets an
ended job run again; \`trawl crawl --resume JOB\` then fetches them, and writes the output anew. Those of a submitted job are
fetched by its workers.

**\`--json\`** prints \`{ "groups": [{ reason, site, status, count, sample }] }\`; with \`--list\`
\`{ "dead": [{ taskId, jobId, url, site, reason, status, diedAt, history }] }\`; else \`{ "replayed" }\` or \`{ "discarded" }\`.`,
  },
  explain: {
    examples: [
      "npx trawl explain JOB",
      "npx trawl explain 127.0.0.1:8321",
      "npx trawl explain http://127.0.0.1:8321/category/play/",
    ],
    notes: `**\`--json\`** prints \`{ about, reasons, until, tasks }\`; \`until\` is epoch milliseconds, or \`null\` where no time is
known. Of a URL, \`tasks\` has \`jobId\` and \`state\` for each job that has it.`,
  },
  top: {
    examples: ["npx trawl top --once", "npx trawl top --once --json"],
    notes: `The fleet at a glance: how fast it goes and how much waits, jobs with their progress, queues, sites and workers. What the numbers mean,
and which keys there are, is in [observability.md](observability.md#at-a-glance). Where stdin or stdout is no terminal it looks once, as with \`--once\`.
A broker or server that goes away is told at the top; it goes on asking. \`--api\` takes a key with the scope \`admin\`.

**\`--once --json\`** prints \`{ at, totals, jobs, queues, sites, workers }\`: \`totals\` has \`pagesPerSecond\`, \`success\`, \`p50Ms\`, \`p95Ms\`, \`waiting\`,
\`inFlight\`, \`capacity\`, \`workers\` and \`rssBytes\`; jobs, queues, sites and workers are as their own commands and the API have them.`,
  },
  workers: {
    examples: ["npx trawl workers", "npx trawl workers --json"],
    notes: `What the columns mean is in [observability.md](observability.md#who-works).

**\`drain\`** lets a worker end what it has in hand and then end itself, with 0; nobody takes its place. Named by its supervisor, the
first of its lines, all processes of that drain and it ends with them, a server of \`trawl up\` last. **\`recycle\`** has a fresh process take
the place of each. Both go through the broker, so they reach any machine, within 5 seconds. What is not over after a minute (12 times \`TRAWL_GRACE\`: a task may have to wait for its site's turn) is
handed back, so nothing is lost by either. A worker that runs alone
(\`--pool solo\`) cannot be recycled, and crawls take no orders: \`ORDER_REFUSED\`. \`--json\` prints \`{ order, workers }\`: who was told.

**\`--json\`** prints \`{ "workers": [{ worker, host, pid, version, queues, unknownSpiders, concurrency, busy, done, failed, rssBytes,
memoryMostBytes, tasksMost, loopUse, recent, state, order, obeys, supervisor, startedAt, seenAt }] }\`; what an older version does not tell is \`null\`.`,
  },
  trace: {
    examples: [
      "npx trawl trace http://127.0.0.1:8321/category/play/",
      "npx trawl trace JOB",
      "npx trawl trace JOB --json",
    ],
    notes: `A job of one URL is told like a URL. What a trace is made of, and what it looks like, is in
[observability.md](observability.md#traces). Secrets in URLs are masked.

**\`--json\`** prints for a URL or a task \`{ "stories": [{ url, job, jobState, requestId, submittedAt, state, waits, lines: [{ at, kind, words }],
tasks: [{ taskId, step, leases }] }], "jobs": [] }\`, where a lease is a \`try\` (\`fate\`, \`because\`, \`status\`, \`detail\`), a \`page\` (\`status\`, \`bytes\`, \`records\`, …)
or \`lost\`; for jobs \`{ "stories": [], "jobs": [{ job, waits, tries, slowest, dead }] }\`.`,
  },
  pause: {
    examples: ["npx trawl pause JOB"],
    notes:
      "From any terminal: the crawl that runs stays there and waits. **`--json`** prints the job, as `trawl job` does.",
  },
  resume: {
    examples: ["npx trawl resume JOB"],
    notes: `Undoes \`pause\`. To go on with a crawl whose process has ended, use [\`trawl crawl --resume\`](#trawl-crawl).
**\`--json\`** prints the job.`,
  },
  cancel: {
    examples: ["npx trawl cancel JOB"],
    notes: "For good: a cancelled job does not run again. What it brought in stays. **`--json`** prints the job.",
  },
  delete: {
    examples: ["npx trawl delete JOB --cancel"],
    notes: `With all that came of it, and only if it has ended, unless \`--cancel\` is given: pages, records, dead letters, and bodies that no page of another job has. It is gone for everybody at
once, and there is no way back: its id is not used again. Interrupted, the rest is removed by the next server or worker that runs, or
by the same command. What is kept for how long without it: [operations](operations.md#what-is-kept-where-and-for-how-long).

**\`--json\`** prints \`{ id, removed }\`; \`removed\` is false where something is left for later.`,
  },
  change: {
    examples: [
      "npx trawl change JOB --rate 1/s --priority 3",
      "npx trawl change JOB --max-pages 500 --max-seconds none",
    ],
    notes: `From any terminal, and for all workers at once. A page limit below what is queued drops nothing: what is there is fetched, and no
more is taken in; links that were refused before it was raised are not found again. \`--max-seconds\` counts from when the job was
submitted: a time that has passed ends it. Of a job that has ended, limits cannot be changed. **\`--json\`** prints the job.`,
  },
  doctor: {
    examples: ["npx trawl doctor", "npx trawl doctor --json"],
    notes: `Looks at the broker (reached, of a known version, fit for work), the store and the bodies (there, ours, writable), and at
whether work and workers find each other: queues with URLs and no worker, workers on queues that no job uses, spiders that a
worker cannot load, other versions of Trawl. Every finding says what to do. A broker that is not there is a finding as well.

**\`--json\`** prints \`{ healthy, problems, warnings, findings: [{ check, verdict, says, fix }] }\`; \`verdict\` is \`ok\`, \`warning\` or
\`problem\`.`,
  },
  demo: {
    examples: ["npx trawl demo", "npx trawl demo --serve --port 8321"],
    notes: `A shop of a few hundred products with what goes wrong on real sites: a dead link, a page that answers 503 once, a redirect,
a slow page, a page in Latin-1, one that robots.txt forbids. It listens on loopback only. The examples of these pages
expect it at port 8321.`,
  },
};
