/** The text of docs/cli.md that does not come from the program's own help. */

/** test/readme.test.ts runs the examples as written, with JOB replaced by the id of a job. */
export type CliSection = { examples: readonly string[]; notes?: string };

export const INTRODUCTION = `# The command line

In a clone the command is \`npx trawl\`; where the package is installed globally, \`trawl\`. \`--help\` explains every command.

Results go to stdout. Progress, reports and errors go to stderr. On a terminal, progress is a block that is redrawn; elsewhere it
is a line from time to time: \`pages=312 rate=48.2/s queue=120 in_flight=8 failed=1 eta=3s\`.

All commands use the broker and the store of the current folder. These flags have the same meaning everywhere:

| flag | meaning |
|---|---|
| \`--broker <url>\` | connection URL of the broker; default: [the configuration](config.md), else \`sqlite:.trawl/broker.db\`. Put a password into \`TRAWL_BROKER\` instead: other users can read the arguments of a process |
| \`--store <url>\` | connection URL of the store, which holds pages and records; default: the configuration, else \`sqlite:.trawl/store.db\` |
| \`--api <url>\` | use [a server](api.md), \`trawl serve\`, instead of broker and store; default: \`TRAWL_API\`. \`none\` turns it off. The key is in \`TRAWL_API_KEY\`, never in a flag |
| \`--log-level <level>\` | lowest level of [log lines](observability.md#the-log) on stderr: \`debug\`, \`info\`, \`warn\` (the default), \`error\`, \`silent\` |
| \`--json\` | print one JSON object as the last line of stdout; each command below describes its object |

Commands that have \`--api\` print the same through a server as without one. \`--broker\` and \`--store\` override \`TRAWL_API\`. \`crawl\`, \`try\`,
\`worker\`, \`serve\`, \`up\`, \`doctor\` and \`demo\` never use a server and ignore it.

| exit code | means |
|---|---|
| 0 | success. Failed tasks are reported; they change the exit code only with \`--strict\` |
| 1 | the work failed: no page could be fetched, the job was cancelled, \`try\` got no page, or a task failed and \`--strict\` is given |
| 2 | wrong usage, configuration, job, URL or selector |
| 3 | the broker or the store cannot be reached, opened or written; or the server of \`--api\` cannot be reached |
| 130 | interrupted by Ctrl-C, SIGTERM or SIGHUP; nothing is lost, see [--resume](#trawl-crawl) |

An error is one line on stderr: \`trawl: CODE: what happened and what to change\`. [errors.md](errors.md) lists the codes.`;

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
    notes: `**Targets.** Any number of URLs; or \`urls.txt\` or \`-\` (stdin) with one URL per line and \`#\` for comments; or one
[spider](spiders.md); or one [job.json](jobs.md). Flags override the spider or job. What neither sets comes from
[the configuration](config.md).

**Output.** One record per page, or the records that \`-e\` ([extraction rules](extraction.md)) or the spider extracts. Every
record also has \`_url\`, \`_status\`, \`_fetchedAt\`, \`_job\` and \`_depth\`. With \`--out\`, the crawl writes the records when it ends,
also when it is interrupted: \`.jsonl\` (one object per line), \`.csv\` or \`.json\` (one array). The file gets its name only
when it is complete. Without \`--out\`, a pipe gets JSON lines as pages are fetched. On a terminal, the records stay in the store:
print them with [\`trawl records\`](#trawl-records).

**Scope.** The crawl follows links on the sites of the start URLs. Change that with \`--scope\`, \`--include\`, \`--exclude\` and
\`--follow\`. A host that you name may be on a private network; a host that a link leads to may not ([politeness](politeness.md)).

**Processes.** By default a crawl works in its own process: the limits of most sites leave no work for more. With \`--processes\` it
supervises worker processes, like [\`trawl worker\`](#trawl-worker). Use that for many sites, for expensive handlers, and for handlers
that may crash or hang.

**Stop and resume.** The first Ctrl-C lets running requests finish, the second one ends the crawl at once. \`kill -9\` is safe as well.
\`--resume\` continues the crawl that was interrupted last, \`--resume JOB\` that job. \`--resume\` with the same target and flags as
before continues that crawl, or starts it if there is none. A resumed crawl keeps the settings that it started with.

**\`--json\`** prints the job with \`pages\`, \`records\`, \`invalid\` and \`seconds\`, and \`out\` if records were written to a file:

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
    notes: `Use it to find selectors before a crawl. It obeys robots.txt and the rate of the site like every command, and needs
neither broker nor store. It follows redirects and shows them. If it gets no page, it prints the reason and exits with 1.

**\`--json\`** prints \`{ page, charset, records, invalid, links }\`; without a page \`{ url, hops, because, status, detail }\`.`,
  },
  submit: {
    examples: [
      "npx trawl submit http://127.0.0.1:8321/ --max-pages 20 --rate 50/s",
      "npx trawl submit http://127.0.0.1:8321/about/ --follow none --queue high_priority --priority 0 --json",
      "npx trawl submit examples/shop.json",
      "printf 'http://127.0.0.1:8321/about/\\nhttp://127.0.0.1:8321/cafe/\\n' | npx trawl submit - --follow none",
    ],
    notes: `Takes the same targets and flags as [\`crawl\`](#trawl-crawl) and creates the same job, but queues it for
[workers](#trawl-worker) instead of running it. Lists are queued while they are read, so they can have any length. If the broker is
full (\`TRAWL_MAX_PENDING\`), \`submit\` waits for the workers and continues. It refuses a URL that cannot be fetched and accepts the
others. If no URL can be fetched, it ends with \`BAD_URL\` and submits nothing.

**Private networks.** \`crawl\` may fetch from a private host that you name. A worker does not know who named the host: allow it with
\`TRAWL_ALLOW_PRIVATE\` for the worker. \`submit\` warns where it can tell.

**Spiders.** Workers load the spider from the same path. If a worker cannot load it, its tasks fail (\`handler_failed\`), and
\`trawl doctor\` names the spider. [\`dead --replay\`](#trawl-dead) queues the tasks again.

**Stop and resume.** After Ctrl-C, \`submit\` prints how many URLs it has queued; the job waits for the rest. \`--resume JOB\` with the
same list continues: URLs that are already queued count as duplicates.

**\`--json\`** prints one object. \`refused\` has the first 1,000 refused URLs (if there are more, \`refusedCount\` counts them all);
\`index\` is the position in the list, from 0. With \`--wait\` the object also has the fields of the job, as for \`crawl\`:

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
    notes: `Runs until it is stopped; with \`--drain\`, until no task of its queues waits or runs. Start as many workers as there are
cores, on as many machines as share the broker. The limits per site hold for all of them together.

On Ctrl-C, SIGTERM or SIGHUP the worker takes no more leases, gives running tasks \`TRAWL_GRACE\` to finish, returns the others
unchanged, and exits with 0. A second signal ends it at once with 130. Its tasks then return to the queue as soon as another worker
sees that it is dead, or when their leases expire. If the broker is unreachable for longer than \`TRAWL_BROKER_PATIENCE\`, the worker
exits with 3.

**Processes.** The worker supervises \`--processes\` child processes, one by default, which do the work; each has its own
\`--concurrency\`. So Ctrl-C and limits work whatever a handler does. If a process dies (a crash, out of memory, \`process.exit()\` in a
handler), the supervisor logs the pages that it was reading, returns its other tasks unchanged, and starts another process: at
once if the old one had completed work, else after 1, 2, 4 … 30 s. If the supervisor is killed, its processes finish within
\`TRAWL_GRACE\` and end.

| what a handler does | what happens to the page |
|---|---|
| it blocks its process (\`for (;;);\`) for longer than \`--time-limit\` or two thirds of \`TRAWL_LEASE\` | the process is killed; the page fails at once, with \`time_limit\` |
| it does not block, but never ends (\`await\` of a promise that never settles) | the page fails with \`time_limit\` after \`--time-limit\` or \`--soft-time-limit\`, with \`handler_failed\` after \`TRAWL_HANDLER_TIMEOUT\` |
| it kills its process: \`process.abort()\`, \`process.exit()\`, memory | the page is retried, from the third attempt on alone in a process; if that process dies too, the page fails with \`crashed_worker\` and the cause |

| limit | what happens when it is exceeded |
|---|---|
| \`--soft-time-limit\` | the task is aborted: it is retried later if it waited for its site (\`timeout\`), and fails with \`time_limit\` if its handler took the time |
| \`--time-limit\` | the same; a process that cannot be aborted because a handler blocks it is killed |
| \`--max-tasks-per-child\` | the process takes no more tasks and ends after the last one; its replacement has started by then |
| \`--max-memory-per-child\` | the same. The heap of the process is limited to this size, and the process is killed if it uses twice as much in total |

The time of a task counts from its lease and includes the wait for its site. With \`--pool solo\` there is no supervisor: the process
exits with 0 where a child would be replaced, and systemd or Kubernetes has to start it again. A handler that blocks it is not
interrupted by the time limit or by Ctrl-C: use \`kill -9\`.

A worker takes tasks of every job on its queues. A crawl has a queue of its own, which no worker serves.

**\`--json\`** turns the messages on stderr into JSON lines (\`worker.started\`, \`worker.job_finished\`, \`worker.stopping\`,
\`worker.stopped\`; \`pool.process_started\`, \`pool.process_ended\`, \`pool.process_died\`, \`pool.process_failed\`, \`pool.process_waits\`), and prints at the end \`{ worker, queues, tasks, pages, records, seconds }\`.`,
  },
  serve: {
    examples: [],
    notes: `Accepts jobs and answers queries over HTTP: see [api.md](api.md). The server documents every request at \`/docs\` and
\`/openapi.json\`. It does not fetch: start [workers](#trawl-worker) on the same broker and store. You can run any number of servers.
Without API keys it listens on loopback only. \`--json\` prints \`{ url }\` once it listens.`,
  },
  schedule: {
    examples: [
      "npx trawl schedule add http://127.0.0.1:8321/ --name nightly --cron '0 3 * * *' --time-zone Europe/Berlin --max-pages 50",
      "npx trawl schedule add http://127.0.0.1:8321/about/ --follow none --every 15m --overlap replace",
      "npx trawl schedule",
      "npx trawl schedule add http://127.0.0.1:8321/ --name nightly --every 1d && npx trawl schedule show nightly",
      "npx trawl schedule add http://127.0.0.1:8321/ --name now --every 1d && npx trawl schedule run now",
    ],
    notes: `Takes the same targets and flags as [\`trawl submit\`](#trawl-submit), and the time: see [schedules.md](schedules.md).
[\`trawl serve\`](#trawl-serve) starts the jobs, on the same store and broker. \`trawl schedule\` without a subcommand is \`list\`.

**\`--json\`** prints the schedule (\`id\`, \`name\`, \`cron\`, \`timeZone\`, \`every\`, \`overlap\`, \`catchUp\`, \`catchUpMost\`, \`paused\`, \`nextAt\`,
\`createdAt\`, \`job\`); for \`show\` with \`next\` and \`runs\` (\`at\`, \`kind\`, \`state\`, \`because\`, \`jobId\`, \`endedAt\`), for \`run\` one of those,
for \`list\` \`{ "schedules": [ … ] }\`, for \`remove\` \`{ "id", "removed" }\`.`,
  },
  up: {
    examples: ["npx trawl up", "npx trawl up --fetch 2 --render 0 --queue high_priority=1 --no-serve"],
    notes: `Starts a [server](#trawl-serve) with the dashboard, prints its address, and starts [workers](#trawl-worker) of every kind, all
under one supervisor. A server that dies is replaced at the same address; the workers are not affected. \`--no-serve\` starts no
server: use it on machines that only fetch, and for a second \`trawl up\` on the same machine, which otherwise finds the port in use and
exits with 2.

\`--fetch\` processes serve the queue \`fetch\`, \`--render\` processes the queue \`render\`, \`--parse\` processes the queue \`parse\`, and
\`--queue name=n\` processes a queue of your own. 0 starts none of a kind. The default of \`--render\` is one where Chromium is found.
\`-c\` applies to the processes that fetch. The processes are supervised, limited, replaced and stopped like those of \`trawl worker\`. If
the broker or the store is lost, all of them end with 3. \`trawl up\` runs until it is stopped; to exit when no work is left, use
\`trawl worker --drain\`.

The output of all processes is one stream on stderr. Each line starts with the name of its process: \`fetch 1 | …\`. **\`--json\`** makes
them JSON lines with \`group\` and \`process\` (a line that is not a log line becomes a \`worker.output\` with its \`text\`), and prints
\`{ groups, tasks, pages, records, seconds }\` at the end. The line \`up.started\` has the server's \`url\`.`,
  },
  keys: {
    examples: [
      "npx trawl keys add operator --scopes admin",
      "npx trawl keys add ci --tenant acme --expires 90d --max-pending 100000 --max-rate 500 --max-jobs 20",
      "npx trawl keys",
      "npx trawl keys add guest --expires 12h > guest.key && npx trawl keys revoke guest",
    ],
    notes: `Works on the store directly, so you can create the first key before a server runs. \`add\` prints the key on stdout, only this
once: the store keeps its hash. [api.md](api.md#authentication) says what keys and quotas allow. \`revoke\` takes an id, or a name that
only one active key has. A revoked key stays in the list.

**\`--json\`** prints for \`add\` the key as \`POST /v1/keys\` does, \`key\` included; for \`list\` \`{ "keys": [{ id, name, tenant, scopes, quotas, state,
createdAt, expiresAt, lastUsedAt, revokedAt }] }\`; for \`revoke\` that key.`,
  },
  jobs: {
    examples: [
      "npx trawl jobs",
      "npx trawl jobs --state finished --search 127.0.0.1",
      "npx trawl jobs --limit 3 --json",
    ],
    notes: `**\`--json\`** prints \`{ "jobs": [ … ] }\`, each like the output of [\`trawl job\`](#trawl-job). A crawl that was
interrupted is \`paused\`; a crawl that was killed is still \`running\`. Resume both with \`trawl crawl --resume\`.`,
  },
  job: {
    examples: ["npx trawl job JOB", "npx trawl job JOB --json"],
    notes: `The counts balance at any time: submitted + discovered is the sum of all others. [state-machine.md](state-machine.md) explains the states.

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
    notes: `Works while the crawl runs, too. In CSV, text that a spreadsheet would interpret as a formula gets a leading apostrophe.
\`--invalid\` prints the records that do not match their schema or lack a required field, each with \`_url\` and \`_reason\`.

**\`--json\`** with \`--out\` prints \`{ "id", "records", "out" }\`.`,
  },
  dead: {
    examples: [
      "npx trawl dead",
      "npx trawl dead --all",
      "npx trawl dead JOB --list",
      "npx trawl dead JOB --reason http_status --status 404 --discard",
      "npx trawl dead JOB --replay --per-second 5",
    ],
    notes: `[errors.md](errors.md#why-a-task-is-dead) explains the reasons. \`--replay\` queues the URLs again, also those of a job that has
ended. For a crawl, \`trawl crawl --resume JOB\` then fetches them and rewrites the output. For a submitted job, the workers fetch
them.

**\`--json\`** prints \`{ "groups": [{ reason, site, status, count, sample }] }\`; with \`--list\`
\`{ "dead": [{ taskId, jobId, url, site, reason, status, diedAt, history }] }\`; else \`{ "replayed" }\` or \`{ "discarded" }\`.`,
  },
  explain: {
    examples: [
      "npx trawl explain JOB",
      "npx trawl explain 127.0.0.1:8321",
      "npx trawl explain http://127.0.0.1:8321/category/play/",
    ],
    notes: `**\`--json\`** prints \`{ about, reasons, until, tasks }\`; \`until\` is epoch milliseconds, or \`null\` if no time is
known. For a URL, \`tasks\` has \`jobId\` and \`state\` for each job that contains it.`,
  },
  top: {
    examples: ["npx trawl top --once", "npx trawl top --once --json"],
    notes: `Shows the throughput and the backlog of the fleet, and its jobs, queues, sites and workers.
[observability.md](observability.md#trawl-top) explains the numbers and the keys. If stdin or stdout is not a terminal, it prints one
snapshot, as with \`--once\`. If the broker or the server is lost, the first line says so, and \`top\` keeps trying. \`--api\` needs a key with the
scope \`admin\`.

**\`--once --json\`** prints \`{ at, totals, jobs, queues, sites, workers }\`: \`totals\` has \`pagesPerSecond\`, \`success\`, \`p50Ms\`, \`p95Ms\`, \`waiting\`,
\`inFlight\`, \`capacity\`, \`workers\` and \`rssBytes\`; jobs, queues, sites and workers have the same fields as in their own commands and in the API.`,
  },
  workers: {
    examples: ["npx trawl workers", "npx trawl workers --json"],
    notes: `[observability.md](observability.md#workers) explains the columns.

**\`drain\`** lets a worker finish its tasks and exit with 0; it is not replaced. If you name the supervisor, the first of its lines, all
its processes drain and it exits with them; a server of \`trawl up\` exits last. **\`recycle\`** replaces each process by a new one. Both
commands go through the broker, so they reach any machine, within 5 seconds. Tasks that are not finished after a minute (12 times
\`TRAWL_GRACE\`: a task may have to wait for its site) are returned to the queue, so neither command loses work. A worker without a
supervisor (\`--pool solo\`) cannot be recycled, and a crawl accepts neither command: \`ORDER_REFUSED\`. \`--json\` prints
\`{ order, workers }\` with the workers that got the command.

**\`--json\`** prints \`{ "workers": [{ worker, host, pid, version, queues, unknownSpiders, concurrency, busy, done, failed, rssBytes,
memoryMostBytes, tasksMost, loopUse, recent, state, order, obeys, supervisor, startedAt, seenAt }] }\`; fields that an older version does not report are \`null\`.`,
  },
  trace: {
    examples: [
      "npx trawl trace http://127.0.0.1:8321/category/play/",
      "npx trawl trace JOB",
      "npx trawl trace JOB --json",
    ],
    notes: `A job with one URL is shown like a URL. [observability.md](observability.md#traces) explains the timeline. Secrets in URLs are
masked.

**\`--json\`** prints for a URL or a task \`{ "stories": [{ url, job, jobState, requestId, submittedAt, state, waits, lines: [{ at, kind, words }],
tasks: [{ taskId, step, leases }] }], "jobs": [] }\`, where a lease is a \`try\` (\`fate\`, \`because\`, \`status\`, \`detail\`), a \`page\` (\`status\`, \`bytes\`, \`records\`, …)
or \`lost\`; for jobs \`{ "stories": [], "jobs": [{ job, waits, tries, slowest, dead }] }\`.`,
  },
  pause: {
    examples: ["npx trawl pause JOB"],
    notes:
      "Works from any terminal. A running crawl keeps running and waits. **`--json`** prints the job, like `trawl job`.",
  },
  resume: {
    examples: ["npx trawl resume JOB"],
    notes: `Undoes \`pause\`. To continue a crawl whose process has ended, use [\`trawl crawl --resume\`](#trawl-crawl).
**\`--json\`** prints the job.`,
  },
  cancel: {
    examples: ["npx trawl cancel JOB"],
    notes: "A cancelled job cannot run again. Its pages and records stay. **`--json`** prints the job.",
  },
  delete: {
    examples: ["npx trawl delete JOB --cancel"],
    notes: `Deletes the job with its pages, records, dead letters, and the bodies that no page of another job uses. The job must have ended;
\`--cancel\` ends it first. It disappears at once and cannot be restored, and its id is not used again. If the command is interrupted,
the next server or worker that runs removes the rest, or the same command does. Jobs that you do not delete are kept
[for a time that you can set](operations.md#retention).

**\`--json\`** prints \`{ id, removed }\`; \`removed\` is false if a part is left to be removed later.`,
  },
  change: {
    examples: [
      "npx trawl change JOB --rate 1/s --priority 3",
      "npx trawl change JOB --max-pages 500 --max-seconds none",
    ],
    notes: `Works from any terminal and applies to all workers at once. A page limit below the number of queued pages drops none of them:
they are fetched, and no more are accepted. Links that were refused before you raise the limit are not found again. \`--max-seconds\`
counts from the submission of the job: if that time has passed, the job ends. The limits of an ended job cannot be changed.
**\`--json\`** prints the job.`,
  },
  doctor: {
    examples: ["npx trawl doctor", "npx trawl doctor --json"],
    notes: `Checks the broker (reachable, known version, usable), the store and the bodies (present, created by Trawl, writable), and
whether work and workers match: queues with URLs but no worker, workers on queues that no job uses, spiders that a worker cannot
load, other versions of Trawl. Every finding says what to do. A broker that cannot be reached is a finding, too.

**\`--json\`** prints \`{ healthy, problems, warnings, findings: [{ check, verdict, says, fix }] }\`; \`verdict\` is \`ok\`, \`warning\` or
\`problem\`.`,
  },
  demo: {
    examples: ["npx trawl demo", "npx trawl demo --serve --port 8321"],
    notes: `A shop with a few hundred products and the problems of real sites: a dead link, a page that answers 503 once, a redirect, a
slow page, a page in Latin-1, and a page that robots.txt disallows. It listens on loopback only. The examples in these pages
expect it at port 8321.`,
  },
};
