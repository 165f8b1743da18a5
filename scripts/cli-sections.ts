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
| \`--broker <url>\` | where the frontier lives; \`sqlite:.trawl/broker.db\` unless [the configuration](config.md) names another |
| \`--store <url>\` | where pages and records live; \`sqlite:.trawl/store.db\` unless the configuration names another |
| \`--json\` | one JSON object as the last line of stdout; its shapes are below |

| exit code | means |
|---|---|
| 0 | done; dead letters are reported, and no failure unless \`--strict\` is given |
| 1 | the work failed: no page could be fetched, the job was cancelled, \`try\` got no page, or \`--strict\` and something failed |
| 2 | usage, configuration, or a job, URL or selector that is wrong |
| 3 | broker or store cannot be opened or written |
| 130 | interrupted by Ctrl-C or SIGTERM; nothing is lost, see [--resume](#trawl-crawl) |

Errors are one line on stderr, \`trawl: CODE: what happened and what to change\`; [errors.md](errors.md) lists the codes.`;

const JOB_FIELDS = `"id": "jmwiapq7ve90649", "name": "shop", "state": "finished",
  "counts": { "submitted": 1, "discovered": 9680, "queued": 0, "delayed": 0, "leased": 0,
              "done": 420, "dead": 1, "cancelled": 0, "duplicate": 8507, "refused": 753 },
  "tally": { "pages": 419, "records": 419, "invalid": 0, "bytes": 2431675 },
  "createdAt": "2026-11-15T20:37:12.576Z", "finishedAt": "2026-11-15T20:37:18.703Z"`;

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
  jobs: {
    examples: ["npx trawl jobs", "npx trawl jobs --limit 3 --json"],
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
ended job run again; \`trawl crawl --resume JOB\` then fetches them, and writes the output anew.

**\`--json\`** prints \`{ "groups": [{ reason, site, status, count, sample }] }\`; with \`--list\`
\`{ "dead": [{ taskId, jobId, url, site, reason, status, diedAt, history }] }\`; else \`{ "replayed" }\` or \`{ "discarded" }\`.`,
  },
  explain: {
    examples: [
      "npx trawl explain JOB",
      "npx trawl explain 127.0.0.1:8321",
      "npx trawl explain http://127.0.0.1:8321/category/play/",
    ],
    notes: `**\`--json\`** prints \`{ about, reasons, until }\`; \`until\` is epoch milliseconds, or \`null\` where no time is known.`,
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
  demo: {
    examples: ["npx trawl demo", "npx trawl demo --serve --port 8321"],
    notes: `A shop of a few hundred products with what goes wrong on real sites: a dead link, a page that answers 503 once, a redirect,
a slow page, a page in Latin-1, one that robots.txt forbids. It listens on loopback only. The examples of these pages
expect it at port 8321.`,
  },
};
