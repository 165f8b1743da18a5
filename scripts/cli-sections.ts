/** The text of docs/cli.md that does not come from the program's own help. */

/** test/readme.test.ts runs the examples as written, with JOB replaced by the id of a job. */
export type CliSection = { examples: readonly string[]; notes?: string };

export const INTRODUCTION = `# The command line

In a clone, the command is \`npx trawl\`. If the package is installed globally, it is \`trawl\`. Every command has a
\`--help\` flag.

Commands write results to stdout, and progress, reports and errors to stderr. If stderr is a terminal, a command shows
its progress in a few lines that it updates in place. Otherwise, it prints one line every 5 seconds:
\`pages=312 rate=48.2/s queue=120 in_flight=8 failed=1 eta=3s\`.

By default, all commands except \`try\`, \`sitemap\` and \`proxies bench\` use the broker and the store of the current
folder. These flags have the same meaning in all commands that have them:

| flag | meaning |
|---|---|
| \`--broker <url>\` | connection URL of the broker; default: [the configuration](config.md), else \`sqlite:.trawl/broker.db\`. If the URL contains a password, set \`TRAWL_BROKER\` instead of this flag: other users of the machine can read the arguments of a process |
| \`--store <url>\` | connection URL of the store, which contains pages and records; default: the configuration, else \`sqlite:.trawl/store.db\`. If the URL contains a password, set \`TRAWL_STORE\` instead of this flag |
| \`--api <url>\` | call [a server](api.md) (\`trawl serve\`) instead of opening the broker and the store; default: \`TRAWL_API\`, or \`api\` in the configuration. \`none\`: open the broker and the store. Set the API key in \`TRAWL_API_KEY\`; there is no flag for it |
| \`--log-level <level>\` | minimum level of the [log lines](observability.md#the-log) on stderr: \`debug\`, \`info\`, \`warn\`, \`error\`, \`silent\`; default: the configuration, else \`warn\` |
| \`--json\` | print one JSON object as the last line of stdout; the section of each command describes its object |

The output of a command has the same format with and without \`--api\`. \`--broker\` and \`--store\` override \`TRAWL_API\`, and
cannot be combined with \`--api\`. The commands \`crawl\`, \`try\`, \`sitemap\`, \`worker\`, \`serve\`, \`up\`, \`proxies\`,
\`doctor\` and \`demo\` never call a server, and ignore \`TRAWL_API\`.

| exit code | meaning |
|---|---|
| 0 | success. The command reports failed tasks; they change the exit code only with \`--strict\` |
| 1 | the job failed (no page could be fetched or processed) or was cancelled; \`try\` got no page, or its handler failed; \`sitemap\` could not read a file; \`proxies bench\` found no successful proxy for a URL; \`doctor\` found a problem; \`submit\` got a list without a valid URL; with \`--strict\`, a task failed or \`submit\` refused a URL; or Trawl has a bug (\`INTERNAL\`) |
| 2 | invalid usage, configuration, job, URL or selector; or the command is not possible: for example, the job does not exist or has ended, the port is in use, or the key lacks a permission |
| 3 | the broker, the store, the browser or the server of \`--api\` is unavailable or full, or has an unsupported version |
| 130 | interrupted by Ctrl-C, SIGTERM or SIGHUP; nothing is lost, see [--resume](#trawl-crawl). \`worker\`, \`serve\` and \`up\` exit with 0 after the first signal, and with 130 only after a second one |

An error on stderr has the form \`trawl: CODE: what happened and what to change\`. If the message has several lines, all
lines after the first are indented. [errors.md](errors.md) lists the codes.`;

const jobFields = (queue: string) => `"id": "jmwiapq7ve90649", "requestId": "rmwiapq7v1f20c93d4b", "name": "shop",
  "state": "finished", "sealed": true, "queue": "${queue}", "queues": ["${queue}"],
  "priority": 5, "politeness": { "rate": "100/s", "burst": 1, "perSite": 4 },
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
    notes: `**Targets.** The targets are one of these:

- one or more URLs or lists of URLs. A list is a file \`*.txt\`, or \`-\` for stdin, with one URL per line; lines that start
  with \`#\` are comments
- a [spider](spiders.md), such as \`spider.ts\`
- a [job](jobs.md), such as \`job.json\`

If a URL is invalid, the crawl does not start. Flags override the values of the spider or job. If neither the flags nor
the spider or job set a value, the crawl uses the value from [the configuration](config.md).

**Output.** With [extraction rules](extraction.md) (\`-e\`, or \`extract\` in a job) or a spider, the crawl writes the
records that the rules or the spider extract. Otherwise, it writes one record per page, with the fields \`title\`,
\`description\`, \`text\` and \`links\`. Every record also has \`_url\`, \`_status\`, \`_fetchedAt\`, \`_job\` and \`_depth\`. With
\`--out\`, the crawl writes the records when it ends or is interrupted: \`.jsonl\` (one object per line), \`.json\` (one
array), \`.csv\` or \`.parquet\`. It writes to a temporary file, and renames this file when the file is complete. Without
\`--out\`, if stdout is a pipe or a file, the crawl prints each record as a JSON line as soon as its page is processed. If
stdout is a terminal, or with \`--json\`, the records are only in the store: print them with
[\`trawl records\`](#trawl-records).

**Scope.** By default, the crawl follows only links to the site of the page that contains them. To change this, use
\`--scope\`, \`--include\`, \`--exclude\` and \`--follow\`. The hosts of the start URLs may be on a private network; other hosts
may not ([politeness](politeness.md#private-networks)). Headers that may contain secrets are sent only to
the origins of the start URLs ([which headers](jobs.md#headers-and-secrets)).

**Processes.** By default, a crawl runs its tasks in its own process, because at the usual rate limits one process is
enough. A crawl with a spider runs its tasks in one child process. With \`--processes\`, the crawl supervises several
worker processes, like [\`trawl worker\`](#trawl-worker). Use \`--processes\` for many sites and for handlers that need much
CPU time.

**Stop and resume.** After the first Ctrl-C, the crawl waits up to \`TRAWL_GRACE\` for its running requests, saves its
progress and exits. A second Ctrl-C ends it at once. You can resume a crawl after both, and also after \`kill -9\`:

- \`--resume\` continues the newest crawl that has not ended.
- \`--resume JOB\` continues that crawl. If the crawl has ended, its output is written again.
- \`--resume TARGET\` continues the newest crawl of the same job: the same target with the same flags. If that crawl has
  ended, its output is written again. If there is no such crawl, a new crawl starts. \`--rate\`, \`--burst\`,
  \`--per-site\`, \`--ignore-robots\`, \`--no-adaptive\`, \`--parse\` and \`--request-id\` are not compared.

A resumed crawl keeps the settings of its job, except that you can change \`--rate\`, \`--burst\` and \`--per-site\`. With a
target, the other flags that define a job only select the crawl; without a target, they are refused. Flags that are not
part of the job, such as \`--concurrency\` and \`--processes\`, take effect as usual. Without \`--out\`, the crawl writes to
the same file as before.

**\`--json\`** prints the job, and adds \`pages\`, \`records\`, \`invalid\` and \`seconds\`. Further fields depend on the crawl:

- \`out\`: the file to which records were written
- \`rates\`: one sentence per site, for at most 3 sites, if another job or an operator has set the rate of the site, or
  if Trawl has lowered it because of the responses of the site
- \`proxies\`: \`{ budget, fallbackRequests, requests, bytes, cost, providers }\`, if requests went through proxies.
  \`fallbackRequests\` is the used part of the budget. \`providers\` contains \`requests\`, \`bytes\` and \`cost\` of each
  provider

\`\`\`json
{ ${jobFields("crawl:jmwiapq7ve90649")},
  "pages": 419, "records": 419, "invalid": 0, "seconds": 6.123, "out": "shop.jsonl" }
\`\`\``,
  },
  try: {
    examples: [
      "npx trawl try http://127.0.0.1:8321/product/oak-mug-101/ -e title=h1 -e 'price=.price|number!' -e sku=jsonld:Product.sku",
      "npx trawl try http://127.0.0.1:8321/ --follow '.tile' --json",
    ],
    notes: `Use \`try\` to test selectors before a crawl. The target is a URL, a [spider](spiders.md) or a [job](jobs.md). For a
spider or a job, \`try\` fetches \`url\`, or the first start URL if \`url\` is not given. \`try\` respects robots.txt and the
configured rate. It uses neither the broker nor the store, so its requests do not count against the rate of running
crawls. It follows redirects and shows them. If it gets no page, or if the handler fails, it prints the reason and exits
with 1.

**\`--json\`** prints \`{ page, charset, records, invalid, links }\`. For a spider, it adds two fields: \`wanted\` (the links
with their \`handler\` and \`carry\`) and \`unmatched\` (the selectors of \`follow\` that matched nothing). If \`try\` got no
page, it prints \`{ url, hops, because, status, detail }\`. If the handler failed, it prints \`{ url, because, detail }\`.`,
  },
  sitemap: {
    examples: [
      "npx trawl sitemap http://127.0.0.1:8321/",
      "npx trawl sitemap http://127.0.0.1:8321/sitemap.xml --since 2026-01-31 --json",
      "npx trawl sitemap http://127.0.0.1:8321/ | cut -f1 | head -3 | npx trawl submit - --follow none",
    ],
    notes: `A URL without a path means the [sitemaps](sitemaps.md) of that site: those that its robots.txt names, or
\`/sitemap.xml\`. The command follows index files, up to 3 levels, and prints pages while it reads them. Like \`try\`, it
uses neither the broker nor the store, and respects robots.txt and the configured rate. If a file cannot be read, the
command prints the reason on stderr, continues with the next file, and exits with 1.

Each line contains the URL and, if there is one, a tab and \`lastmod\` as written. **\`--json\`** prints one object per
page: \`{ url, lastmod, sitemap }\`; \`lastmod\` may be \`null\`.`,
  },
  submit: {
    examples: [
      "npx trawl submit http://127.0.0.1:8321/ --max-pages 20 --rate 50/s",
      "npx trawl submit http://127.0.0.1:8321/about/ --follow none --queue high_priority --priority 0 --json",
      "npx trawl submit examples/shop.json",
      "printf 'http://127.0.0.1:8321/about/\\nhttp://127.0.0.1:8321/cafe/\\n' | npx trawl submit - --follow none",
    ],
    notes: `\`submit\` accepts the same targets and job flags as [\`crawl\`](#trawl-crawl) and creates the same job, but
queues it for [workers](#trawl-worker) instead of running it. Lists are queued while they are read, so they can have any
length. If the broker is full (\`TRAWL_MAX_PENDING\`), \`submit\` waits for the workers and continues. It refuses invalid
URLs and accepts the others. If no URL is valid, it submits nothing. It then exits with 1 for a list, and with 2
(\`BAD_URL\`) for URLs in the command, in a job or in a spider.

**Private networks.** Unlike \`crawl\`, a worker fetches from a private network only if \`TRAWL_ALLOW_PRIVATE\` of the
worker contains the network. If a URL contains a private address or \`localhost\`, \`submit\` prints a warning.

**Spiders.** Each worker loads the spider from its own machine, at the same absolute path. If a worker cannot load the
spider, the tasks that this worker leases fail (\`handler_failed\`), and \`trawl doctor\` names the spider.
[\`dead --replay\`](#trawl-dead) queues the tasks again.

**Stop and resume.** After Ctrl-C, \`submit\` prints how many URLs it has queued; the job waits for the rest.
To continue, run \`submit --resume JOB\` with the same list: URLs that are already queued count as duplicates. Ctrl-C
during \`--wait\` ends the command, but not the job.

**\`--json\`** prints one object. \`refused\` contains the first 1,000 refused URLs; if there are more, \`refusedCount\` is
their total number. \`index\` is the position of the URL in the list, counted from 0. \`id\` is \`null\` if nothing was
submitted. The object has further fields in these cases:

- \`webhookSecret\`: a secret for the webhook was generated
- \`known: true\`: an earlier submission with the same idempotency key was already complete
- \`interrupted: true\` and \`taken\` (the number of processed URLs): the command was interrupted
- the fields of the job, and \`pages\`, \`records\` and \`invalid\`: with \`--wait\`

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
    notes: `A worker runs until you stop it. With \`--drain\`, it exits when no task of its queues is waiting or running.
Tasks of paused jobs count as waiting. The queue \`deliver\` contains the [webhook](webhooks.md) events that must be sent.
Start one process per core, on any number of machines that share the broker. The limits of a site apply to all workers
together.

On Ctrl-C, SIGTERM or SIGHUP, the worker leases no more tasks, waits up to \`TRAWL_GRACE\` for running tasks, returns
unfinished tasks to the queue, and exits with 0. A returned task does not count as an attempt. A second signal ends the
worker at once with 130. Its tasks then return to the queue when another worker on the same machine detects that this
worker is dead, or when their leases expire. If the broker is unreachable for longer than
\`TRAWL_BROKER_RETRY_FOR\`, or a PostgreSQL store for longer than \`TRAWL_STORE_RETRY_FOR\`, the worker exits with 3.

**Processes.** The worker is a supervisor: it starts \`--processes\` child processes (default 1), which run the tasks.
\`--concurrency\` applies to each process. Because tasks run in child processes, Ctrl-C and the limits work even if a
handler blocks its process. If a process dies (a crash, out of memory, \`process.exit()\` in a handler), the supervisor
prints the pages that the process was processing, returns its other tasks unchanged, and starts a new process. The new
process starts at once if the old process had completed a task or had run for 10 s. Otherwise, it starts after a delay
of 1 s, which doubles with each further failure, up to 30 s. If the supervisor is killed, its processes wait up to
\`TRAWL_GRACE\` for running tasks and exit.

| behaviour of a handler | what happens to the page |
|---|---|
| it blocks its process (\`for (;;);\`) for longer than \`--time-limit\` or two thirds of \`TRAWL_LEASE\` (at least 10 s) | the supervisor kills the process, and the page fails at once with \`time_limit\`. If handlers of several pages were running, these pages are retried as in the last row |
| it does not block its process, but never ends (\`await\` of a promise that never settles) | the page fails with \`handler_failed\` after \`TRAWL_HANDLER_TIMEOUT\`, or with \`time_limit\` after \`--time-limit\` or \`--soft-time-limit\`, whichever is first |
| it ends its process: \`process.abort()\`, \`process.exit()\`, out of memory | the page is retried; the third attempt runs alone in a process. If that process dies too, the page fails with \`crashed_worker\` and the cause |

| limit | what happens when it is exceeded |
|---|---|
| \`--soft-time-limit\` | the task is aborted. If its handler was running, the task fails with \`time_limit\`. Otherwise, for example if it was waiting for its site, it is retried later (\`timeout\`) |
| \`--time-limit\` | the same as for \`--soft-time-limit\`. In addition, if a handler blocks its process, the task cannot be aborted, and the supervisor kills the process |
| \`--max-tasks-per-child\` | the supervisor starts a new process. The old process leases no more tasks, finishes its current tasks and exits |
| \`--max-memory-per-child\` | the same as for \`--max-tasks-per-child\`. In addition, the JavaScript heap of a process is limited to this size, and a process that uses more than twice as much memory is killed |

The time of a task starts with its lease and includes the wait for its site.

With \`--pool solo\`, there is no supervisor. When the process reaches \`--max-tasks-per-child\` or
\`--max-memory-per-child\`, the command exits with 0, and systemd or Kubernetes must start it again. The time limits and
Ctrl-C cannot interrupt a handler that blocks the process: use \`kill -9\`.

A worker runs the tasks of all jobs on its queues. \`trawl worker\` does not run the tasks of a \`trawl crawl\`: each crawl
has its own queue, and only the processes of the crawl serve it. \`--queues\` does not accept the queue of a crawl. To
continue a crawl, use \`trawl crawl --resume JOB\`.

With **\`--json\`**, the messages on stderr are JSON lines, with these events: \`worker.started\`, \`worker.job_finished\`,
\`worker.stopping\`, \`worker.stopped\`, \`worker.metrics\`, \`worker.held_up\`, \`worker.command_received\`, \`worker.output\`,
\`pool.process_started\`, \`pool.process_ended\`, \`pool.process_died\`, \`pool.process_failed\`, \`pool.process_unavailable\`,
\`pool.process_waits\` and \`pool.command_received\`. At the end, the command prints
\`{ worker, queues, tasks, pages, records, seconds }\` on stdout.`,
  },
  serve: {
    examples: [],
    notes: `The server accepts jobs and returns results over HTTP: see [api.md](api.md). \`/docs\` and \`/openapi.json\`
describe every request. The server does not fetch pages: start [workers](#trawl-worker) on the same broker and store.
It submits the jobs of [schedules](schedules.md), unless \`--no-schedules\` is set, and archives ended jobs
([retention](operations.md#retention)). You can run any number of servers. Without API keys, a server listens only on
loopback addresses. \`--json\` prints \`{ url }\` when the server accepts connections.`,
  },
  schedule: {
    examples: [
      "npx trawl schedule add http://127.0.0.1:8321/ --name nightly --cron '0 3 * * *' --time-zone Europe/Berlin --max-pages 50",
      "npx trawl schedule add http://127.0.0.1:8321/about/ --follow none --every 15m --overlap replace",
      "npx trawl schedule",
      "npx trawl schedule add http://127.0.0.1:8321/ --name nightly --every 1d && npx trawl schedule show nightly",
      "npx trawl schedule add http://127.0.0.1:8321/ --name now --every 1d && npx trawl schedule run now",
    ],
    notes: `\`add\` accepts the same targets as [\`trawl submit\`](#trawl-submit), flags that define the job, and flags that
define the times ([schedules.md](schedules.md)). A server ([\`trawl serve\`](#trawl-serve) or [\`trawl up\`](#trawl-up)) on
the same store and broker submits the jobs. The other actions are:

- \`list\`, the default: list all schedules
- \`show ID\`: show a schedule with its next times and its last runs
- \`run ID\`: submit the job of a schedule now
- \`pause ID\` and \`resume ID\`: stop and continue the scheduled runs
- \`remove ID\`: delete a schedule; its jobs are kept

\`ID\` is the id or the name of a schedule.

**\`--json\`** prints the schedule (\`id\`, \`name\`, \`cron\`, \`timeZone\`, \`every\`, \`overlap\`, \`catchUp\`, \`maxCatchUp\`,
\`paused\`, \`nextAt\`, \`createdAt\`, \`job\`). \`show\` adds \`next\` and \`runs\` (\`at\`, \`kind\`, \`state\`, \`because\`, \`jobId\`,
\`endedAt\`). \`run\` prints the run that it started, with the same fields as in \`runs\`. \`list\` prints
\`{ "schedules": [ … ] }\`. \`remove\` prints \`{ "id", "removed" }\`.`,
  },
  up: {
    examples: ["npx trawl up", "npx trawl up --fetch 2 --render 0 --queue high_priority=1 --no-serve"],
    notes: `\`up\` starts a [server](#trawl-serve) with the dashboard, prints its address, and starts
[workers](#trawl-worker) that fetch, render and parse pages. One supervisor controls all these processes. If the server
dies, the supervisor replaces it at the same address, and the workers continue. With \`--no-serve\`, no server starts. Use
this flag on machines that only fetch, and for a second \`trawl up\` on the same machine: with a server on the same port,
the second command would exit with 2.

\`--fetch\`, \`--render\` and \`--parse\` set the number of processes that serve the queues \`fetch\`, \`render\` and
\`parse\`; with 0, no process of that kind starts. \`--queue name=n\` starts n processes for another queue. The
default of \`--render\` is 1 if Chromium is installed, else 0. \`-c\` applies to the processes of \`--fetch\` and
\`--queue\`. The supervisor limits, replaces and stops the processes like \`trawl worker\`. If the broker is
unreachable for longer than \`TRAWL_BROKER_RETRY_FOR\`, or a PostgreSQL store for longer than \`TRAWL_STORE_RETRY_FOR\`,
\`trawl up\` stops all processes and exits with 3. \`trawl up\` runs until it is stopped; to exit when no work is left, use
\`trawl worker --drain\`.

The command prints the output of all processes on stderr. Each line starts with the name of its process: \`fetch 1 | …\`.
With **\`--json\`**, each line is a JSON object. Lines of a process also have \`group\` and \`process\`. If a process prints a
line that is not JSON, the line becomes an event \`worker.output\` with the field \`text\`. The event \`up.started\` contains
the \`url\` of the server, and so does \`up.server_back\`, after the server was replaced. At the end, the command prints
\`{ groups, tasks, pages, records, seconds }\` on stdout.`,
  },
  keys: {
    examples: [
      "npx trawl keys add operator --scopes admin",
      "npx trawl keys add ci --tenant acme --expires 90d --max-pending 100000 --max-rate 500 --max-jobs 20",
      "npx trawl keys",
      "npx trawl keys add guest --expires 12h > guest.key && npx trawl keys revoke guest",
    ],
    notes: `Without \`--api\`, \`keys\` opens the store directly, so you can create the first key before a server runs.
\`list\` is the default action. \`add\` prints the key on stdout. The key is shown only once, because the store contains
only its hash. [api.md](api.md#authentication) describes keys and quotas. \`revoke\` accepts the id or the name of a key.
If several keys that are not revoked have the same name, use the id. A revoked key stays in the list.

With **\`--json\`**, \`add\` prints the same object as \`POST /v1/keys\`, including \`key\`. \`list\` prints \`{ "keys": [{ id,
name, tenant, scopes, quotas, state, createdAt, expiresAt, lastUsedAt, revokedAt }] }\`. \`revoke\` prints the revoked
key.`,
  },
  jobs: {
    examples: [
      "npx trawl jobs",
      "npx trawl jobs --state finished --search 127.0.0.1",
      "npx trawl jobs --limit 3 --json",
    ],
    notes: `An interrupted crawl is \`paused\`. A crawl whose process was killed is still \`running\`. To resume either of
them, use \`trawl crawl --resume JOB\`. \`--search\` ignores case. It does not search the URLs of a job with more than 500
URLs.

**\`--json\`** prints \`{ "jobs": [ … ] }\`; each entry has the fields of [\`trawl job\`](#trawl-job).`,
  },
  job: {
    examples: ["npx trawl job JOB", "npx trawl job JOB --json"],
    notes: `The counts balance at any time: submitted + discovered equals the sum of all other counts.
[state-machine.md](state-machine.md) explains the states.

**\`--json\`**:

\`\`\`json
{ ${jobFields("fetch")} }
\`\`\``,
  },
  records: {
    examples: [
      "npx trawl records JOB > records.jsonl",
      "npx trawl records JOB --out records.csv",
      "npx trawl records JOB --invalid",
    ],
    notes: `You can run \`records\` while the job runs; it prints the records so far. In CSV, text that a spreadsheet
would interpret as a formula gets a leading apostrophe. \`--invalid\` prints the records that do not match their schema or
lack a required field, each with \`_url\` and \`_reason\`.

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
    notes: `\`dead\` groups the failed URLs by reason, site and status. Below each group, it prints the message of the
newest failed URL; \`--list\` prints all messages. [errors.md](errors.md#why-a-task-is-dead) explains the reasons.

\`--replay\` queues the URLs again. If their job has finished or failed, it runs again, without its time limit. The URLs
of a cancelled or archived job cannot be replayed. Workers fetch the URLs of a submitted job. For a crawl, run
\`trawl crawl --resume JOB\`: it fetches the URLs and writes the output again.

**\`--json\`** prints \`{ "groups": [{ reason, site, status, count, sample, cause }] }\`. For the reasons
\`retries_spent\` and \`blocked\`, \`cause\` is the reason why the last attempt failed. \`--list\` prints
\`{ "dead": [{ taskId, jobId, url, site, reason, status, diedAt, history }] }\`, \`--replay\` prints \`{ "replayed" }\`,
and \`--discard\` prints \`{ "discarded" }\`.`,
  },
  explain: {
    examples: [
      "npx trawl explain JOB",
      "npx trawl explain 127.0.0.1:8321",
      "npx trawl explain http://127.0.0.1:8321/category/play/",
    ],
    notes: `**\`--json\`** prints \`{ about, reasons, until, tasks }\`. \`until\` is the end of the wait in epoch milliseconds,
or \`null\` if it is unknown. For a URL, \`tasks\` has an entry with \`jobId\` and \`state\` for each job that contains the URL.
If the page is rendered or parsed in a separate task, this task has its own entry, with the additional field \`step\`
(\`render\` or \`parse\`).`,
  },
  top: {
    examples: ["npx trawl top --once", "npx trawl top --once --json"],
    notes: `\`top\` shows the throughput and the backlog of the fleet, and its jobs, queues, sites and workers.
[observability.md](observability.md#trawl-top) explains the numbers and the keys. If stdin or stdout is not a terminal,
\`top\` prints one snapshot, as with \`--once\`. If the broker or the server becomes unreachable, the first line says so,
and \`top\` tries again. With \`--api\`, \`top\` needs a key with the scope \`admin\`, if the server requires keys.

**\`--once --json\`** prints \`{ at, totals, jobs, queues, sites, workers }\`. \`totals\` has \`pagesPerSecond\`, \`success\`,
\`p50Ms\`, \`p95Ms\`, \`waiting\`, \`inFlight\`, \`capacity\`, \`workers\` and \`rssBytes\`. Jobs and workers have the same fields as
in \`trawl job\` and \`trawl workers\`, queues and sites the same fields as in the API.`,
  },
  proxies: {
    examples: ["npx trawl proxies", "npx trawl proxies --json"],
    notes: `[proxies.md](proxies.md) explains how proxies are chosen. \`bench\` sends \`--requests\` requests to each URL through
each proxy. The proxies take turns, so that a site that becomes slower affects all proxies equally. The winner is the
proxy with the best success per cost; a proxy with an average of one second counts half as much as one that responds at
once.

**\`--json\`** prints \`{ "proxies": [{ id, proxy, provider, tags, state, ejectedUntil, ejectedAt, requests, success,
blocked, averageMs, bytes, cost }], "providers": [{ provider, site, proxies, ejected, ejectedUntil, requests, success,
blocked, averageMs, bytes, cost }] }\`. \`state\` is \`healthy\`, \`ejected\` or \`probation\`: the next request tries the
proxy again. \`success\` is a share from 0 to 1. With \`bench\`, it prints
\`{ "targets": [{ url, winner, proxies: [{ proxy, provider, requests, ok, blocked, averageMs, costPerSuccess }] }]
}\`; \`winner\` is \`{ proxy, provider }\`, or \`null\` if no proxy was successful.`,
  },
  workers: {
    examples: ["npx trawl workers", "npx trawl workers --json"],
    notes: `[observability.md](observability.md#workers) explains the columns.

After **\`drain\`**, a worker leases no more tasks, finishes its current tasks and exits with 0. It is not replaced. After
**\`recycle\`**, a new process replaces the worker. In the output of \`trawl workers\`, the processes of a supervisor are
listed below it. If you name a supervisor, the command applies to all its processes. After \`drain\`, the supervisor exits
too; the server of \`trawl up\` exits last.

Both commands are sent through the broker. Workers on any machine receive them within 5 seconds. A worker waits
for its tasks, which may have to wait for their sites, for up to 12 times \`TRAWL_GRACE\`: 60 s, if \`TRAWL_GRACE\` is the
default of 5 s. The worker then stops as after SIGTERM: it waits up to \`TRAWL_GRACE\` for the tasks that are still
running, and returns the unfinished tasks to the queue. No task is lost.

A worker without a supervisor (\`--pool solo\`) cannot be recycled. The processes of a crawl accept neither command. In
both cases, the error is \`COMMAND_REFUSED\`.

With **\`--json\`**, \`drain\` and \`recycle\` print \`{ command, workers }\`; \`workers\` lists the workers that the command was
sent to. Without an action, \`--json\` prints \`{ "workers": [{ worker, host, pid, version, queues, unknownSpiders,
concurrency, busy, done, failed, rssBytes, maxMemoryBytes, maxTasks, eventLoopUse, recent, state, command, commands,
supervisor, startedAt, seenAt }] }\`. A field is \`null\` if the worker has no such limit, command or supervisor, or if the
worker runs an older version of Trawl that does not report the field.`,
  },
  trace: {
    examples: [
      "npx trawl trace http://127.0.0.1:8321/category/play/",
      "npx trawl trace JOB",
      "npx trawl trace JOB --json",
    ],
    notes: `If a job has one URL, follows no links and has no spider, the output is the same as for its URL.
[observability.md](observability.md#traces) explains the timeline. \`trace\` searches for a request id only in the newest
1,000 jobs. Secrets in URLs are masked.

For a URL or a task, **\`--json\`** prints \`{ "timelines": [{ url, job, jobState, requestId, submittedAt, state, waits,
lines: [{ at, kind, text }], tasks: [{ taskId, step, leases }] }], "jobs": [], "more" }\`. For a job or a request id, it
prints \`{ "timelines": [], "jobs": [{ job, waits, attempts, slowest, dead }], "more" }\`. \`more\` is the number of results
that were left out; the command prints at most 20.

The \`kind\` of a lease is \`page\` (the lease ended with a page), \`attempt\` (it ended without a page) or \`lost\` (its worker
crashed). Every lease has \`kind\` and \`token\`. A \`page\` and an \`attempt\` also have \`worker\`, \`step\`, \`attempt\`,
\`leasedAt\` and \`endedAt\`. The other fields depend on the kind:

| \`kind\` | further fields |
|---|---|
| \`page\` | \`pageId\`, \`status\`, \`bytes\`, \`sentAt\`, \`fetchedAt\`, \`tookMs\`, \`location\`, \`records\`, \`invalid\`, \`bodyRef\` |
| \`attempt\` | \`outcome\`, \`because\`, \`status\`, \`detail\` |
| \`lost\` | none |`,
  },
  pause: {
    examples: ["npx trawl pause JOB"],
    notes: `You can run \`pause\` on any machine that uses the same broker. The process of a paused crawl keeps running
and waits. **\`--json\`** prints the job, like \`trawl job\`.`,
  },
  resume: {
    examples: ["npx trawl resume JOB"],
    notes: `\`resume\` continues a job that was paused with \`pause\`. To continue a crawl whose process has ended, use
[\`trawl crawl --resume\`](#trawl-crawl); \`resume\` refuses such a crawl (\`CRAWL_STOPPED\`). **\`--json\`** prints the job.`,
  },
  cancel: {
    examples: ["npx trawl cancel JOB"],
    notes: "A cancelled job cannot run again. Its pages and records stay in the store. **`--json`** prints the job.",
  },
  delete: {
    examples: ["npx trawl delete JOB --cancel"],
    notes: `\`delete\` removes the job with its pages, records, dead letters and webhook. After an hour, a server or worker
removes the bodies that no page of another job uses. The job must have ended; \`--cancel\` cancels it first. A deleted job
cannot be restored, no command shows it, and its id is not used again. If the command is interrupted, repeat it, or wait
until a server or worker removes the rest. [Retention](operations.md#retention) describes how long Trawl keeps jobs that
you do not delete.

**\`--json\`** prints \`{ id, removed }\`. \`removed\` is \`true\` if all data except bodies is removed, and \`false\` if a
server or worker removes the rest later. With \`--api\`, it is always \`false\`.`,
  },
  change: {
    examples: [
      "npx trawl change JOB --rate 1/s --priority 3",
      "npx trawl change JOB --max-pages 500 --max-seconds none",
    ],
    notes: `You can run \`change\` on any machine that uses the same broker. The change applies to all workers, within about
2 seconds. \`--rate\`, \`--burst\` and \`--per-site\` do not apply to the sites that the job lists in \`politeness.sites\`.

If the new page limit is lower than the number of URLs that are already queued, these URLs are still fetched, and new
URLs are refused. If you raise the limit, links that were refused before are not queued again. \`--max-seconds\` counts
from the submission of the job. If that time has already passed, the job ends. The limits of an ended job cannot be
changed. **\`--json\`** prints the job.`,
  },
  doctor: {
    examples: ["npx trawl doctor", "npx trawl doctor --json"],
    notes: `\`doctor\` checks whether the broker is reachable, durable, writable and of a supported version. It checks
whether the store can be read and written, and whether the folder or bucket of the bodies is writable. It also reports:

- queues with waiting URLs that no worker serves
- running jobs while no worker runs
- workers on queues that no job uses
- spiders that a worker cannot load
- the proxies of the settings, and references to secrets that cannot be read
- workers with another version of Trawl
- workers on several machines whose store is a file

For every warning and problem, \`doctor\` prints a fix. \`--log-level\` has no effect: \`doctor\` writes no log.

**\`--json\`** prints \`{ healthy, problems, warnings, findings: [{ check, verdict, message, fix }] }\`. \`verdict\` is \`ok\`,
\`warning\` or \`problem\`.`,
  },
  demo: {
    examples: ["npx trawl demo", "npx trawl demo --serve --port 8321"],
    notes: `The demo is a shop with a few hundred products. It has problems that real sites have: a broken link, a page that
responds with 503 to the first request, a redirect, a slow page, a page in Latin-1, and a page that robots.txt
disallows. The shop listens only on a loopback address. The examples in the documentation expect it at port 8321.`,
  },
};
