/** Every setting of Trawl, in one place. docs/config.md and `trawl --help` come from here. */
import {
  autoCount,
  choice,
  count,
  duration,
  type Field,
  flag,
  headerText,
  limit,
  list,
  orNever,
  rate,
  secret,
  secretWord,
  serverUrl,
  text,
  word,
} from "./fields.ts";
import { METRICS_SETTINGS } from "./metrics-settings.ts";
import { routeList } from "./route-list.ts";
import { SERVER_SETTINGS } from "./server-settings.ts";
import { TRACING_SETTINGS } from "./tracing-settings.ts";
import { WEBHOOK_SETTINGS } from "./webhook-settings.ts";

export const SETTINGS = {
  broker: text({
    env: "TRAWL_BROKER",
    shown: "sqlite:.trawl/broker.db",
    isSecret: true,
    doc: "Where the frontier lives: `sqlite:PATH`; for a fleet `redis://[user:password@]host:port[/db]` (`rediss://` with TLS), `redis+cluster://host:port,host:port` or `redis+sentinel://host:port,host:port/master`.",
  }),
  brokerPrefix: word({
    env: "TRAWL_BROKER_PREFIX",
    shown: "trawl",
    doc: "What the keys of a Redis broker begin with: fleets with different ones share a server and nothing else.",
  }),
  brokerShards: autoCount({
    env: "TRAWL_BROKER_SHARDS",
    least: 1,
    most: 1024,
    doc: "Into how many parts a Redis broker is split, by site; the same for every process of a fleet. `auto`: 1, and 16 on a cluster.",
  }),
  brokerPatienceMs: duration({
    env: "TRAWL_BROKER_PATIENCE",
    shown: "60s",
    least: "100ms",
    most: "1h",
    doc: "How long a Redis broker may be away before a process gives up; until then it connects again by itself.",
  }),
  store: text({
    env: "TRAWL_STORE",
    shown: "sqlite:.trawl/store.db",
    isSecret: true,
    doc: "Where pages and records live: `sqlite:PATH`; for a fleet `postgres://user:password@host:port/database`, with `?schema=NAME` (default `trawl`), `sslmode=disable`, `prefer` (the default), `require` or `verify-full`, and PEM files as `ca`, `cert` and `key`.",
  }),
  storePatienceMs: duration({
    env: "TRAWL_STORE_PATIENCE",
    shown: "60s",
    least: "100ms",
    most: "1h",
    doc: "How long a PostgreSQL store may be away before a process gives up; until then it connects again by itself.",
  }),
  bodies: text({
    env: "TRAWL_BODIES",
    shown: "file:.trawl/bodies",
    doc: "Where page bodies go when a job keeps them: `file:PATH`, `s3://BUCKET[/PREFIX]` or `none`.",
  }),
  s3Endpoint: text({
    env: "TRAWL_S3_ENDPOINT",
    shown: "auto",
    doc: "The server of an S3 bucket, such as `https://minio.example:9000`. `auto`: Amazon's in `s3Region`. Else `AWS_ENDPOINT_URL_S3` or `AWS_ENDPOINT_URL`.",
  }),
  s3Region: text({
    env: "TRAWL_S3_REGION",
    shown: "us-east-1",
    doc: "The region of an S3 bucket. Else `AWS_REGION` or `AWS_DEFAULT_REGION`.",
  }),
  s3PathStyle: choice({
    env: "TRAWL_S3_PATH_STYLE",
    shown: "auto",
    of: ["auto", "on", "off"],
    doc: "Whether an S3 bucket is named in the path (`on`) or in the host. `auto`: in the host at Amazon, in the path elsewhere.",
  }),
  s3AccessKey: secret({
    env: "TRAWL_S3_ACCESS_KEY",
    doc: "Who we are to an S3 server. Without it, `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`.",
  }),
  s3SecretKey: secret({ env: "TRAWL_S3_SECRET_KEY", doc: "What requests to an S3 server are signed with." }),
  s3SessionToken: secret({
    env: "TRAWL_S3_SESSION_TOKEN",
    doc: "Goes with keys to an S3 server that were lent for a while.",
  }),
  s3TimeoutMs: duration({
    env: "TRAWL_S3_TIMEOUT",
    shown: "30s",
    least: "100ms",
    most: "1h",
    doc: "Longest time for one request to an S3 server; those that fail in passing are sent up to 8 times.",
  }),
  allowPrivate: list({
    env: "TRAWL_ALLOW_PRIVATE",
    doc: "Private, loopback or link-local networks that may be fetched from, such as `127.0.0.0/8,10.1.0.0/16`.",
  }),
  userAgent: headerText({
    env: "TRAWL_USER_AGENT",
    shown: "Trawl/0.1 (polite crawler)",
    doc: "Sent with every request; its first word is the name looked for in robots.txt. Name a way to reach you.",
  }),
  logLevel: choice({
    env: "TRAWL_LOG_LEVEL",
    shown: "warn",
    of: ["debug", "info", "warn", "error", "silent"],
    doc: "Least level of the JSON log lines on stderr.",
  }),

  api: serverUrl({
    env: "TRAWL_API",
    shown: "none",
    doc: "The `trawl serve` that commands ask, such as `https://trawl.example`, in place of broker and store; a command that has `--api` says so. `none`: they work on broker and store themselves. `--broker` and `--store` beat it.",
  }),
  apiKey: secretWord({
    env: "TRAWL_API_KEY",
    doc: "The key that commands send there. Not a flag, since everybody on a machine sees those.",
  }),
  apiTries: count({
    env: "TRAWL_API_TRIES",
    shown: 7,
    least: 1,
    most: 20,
    doc: "How often a request to `TRAWL_API` is tried that gets lost, or comes to a server that stops; waits double from 250 ms, up to 10 s.",
  }),
  ...SERVER_SETTINGS,
  keepEndedMs: orNever(
    duration({
      env: "TRAWL_KEEP_ENDED",
      shown: "7d",
      least: "1s",
      most: "3650d",
      doc: "How long a job stays in the broker after its end. Then it can be looked at and its results read, from the store, and not be steered or replayed any more. Servers and workers see to it. `never`: it stays.",
    }),
  ),
  ...METRICS_SETTINGS,
  scheduleGraceMs: duration({
    env: "TRAWL_SCHEDULE_GRACE",
    shown: "60s",
    least: "1s",
    most: "1d",
    doc: "How late a slot of a schedule may be noticed and still be on time; a later one was missed, and is for the schedule's catch-up policy.",
  }),

  concurrency: count({
    env: "TRAWL_CONCURRENCY",
    shown: 32,
    least: 1,
    most: 1000,
    doc: "Tasks one process works on at once.",
  }),
  leaseMs: duration({
    env: "TRAWL_LEASE",
    shown: "60s",
    least: "1s",
    most: "1h",
    doc: "How long a claim on a task lasts without being renewed; tasks of a worker that is lost on another machine wait this long.",
  }),
  graceMs: duration({
    env: "TRAWL_GRACE",
    shown: "5s",
    least: "0ms",
    most: "10m",
    doc: "How long a stopping process lets running tasks finish before it hands them back.",
  }),
  flushMs: duration({
    env: "TRAWL_FLUSH",
    shown: "10ms",
    least: "0ms",
    most: "10s",
    doc: "Longest time a finished task waits for others to be written with it.",
  }),

  processes: count({
    env: "TRAWL_PROCESSES",
    shown: 1,
    least: 1,
    most: 256,
    doc: "Processes that `trawl worker` works with, each on its own `concurrency` tasks.",
  }),
  pool: choice({
    env: "TRAWL_POOL",
    shown: "auto",
    of: ["auto", "solo"],
    doc: "`auto`: `trawl worker`, and `trawl crawl` of a spider, supervise the processes that do the work, and start new ones for those that die. `solo`: the command does the work itself, one task at a time unless `concurrency` is set, and ends where a process would be replaced; nothing can end a handler that never lets go of it.",
  }),
  maxTasksPerChild: limit(
    count({
      env: "TRAWL_MAX_TASKS_PER_CHILD",
      shown: 1,
      least: 1,
      most: 1_000_000_000,
      doc: "Tasks after which a worker process is replaced by a new one.",
    }),
  ),
  maxMemoryPerChildMb: limit(
    count({
      env: "TRAWL_MAX_MEMORY_PER_CHILD",
      shown: 128,
      least: 128,
      most: 1_000_000,
      doc: "Megabytes (of 1,000,000 bytes) of memory past which a worker process ends what it has in hand and is replaced; its JavaScript heap gets no more either, and at twice as much it is killed.",
    }),
  ),
  timeLimitMs: limit(
    duration({
      env: "TRAWL_TIME_LIMIT",
      shown: "1h",
      least: "1s",
      most: "24h",
      doc: "Longest time for one task, from lease to result. A process that is stuck in one for longer is killed: the task is a dead letter, `time_limit`, and its other tasks go back untouched. So is one that is stuck for two thirds of `leaseMs` (but 10 s at least), whatever this is: it would lose all its leases.",
    }),
  ),
  softTimeLimitMs: limit(
    duration({
      env: "TRAWL_SOFT_TIME_LIMIT",
      shown: "1h",
      least: "10ms",
      most: "24h",
      doc: "After this a task is told to end (its signal is aborted): while it waits for the site it is tried again later, in a handler it is a dead letter, `time_limit`. At most `timeLimitMs`.",
    }),
  ),

  rate: rate({ env: "TRAWL_RATE", shown: "4/s", doc: "Requests to one site, unless a job says otherwise." }),
  burst: count({
    env: "TRAWL_BURST",
    shown: 1,
    least: 1,
    most: 1000,
    doc: "Requests that may go to a site at once after a quiet time.",
  }),
  perSite: count({
    env: "TRAWL_PER_SITE",
    shown: 4,
    least: 1,
    most: 1000,
    doc: "Requests to one site under way at once.",
  }),
  siteGrouping: choice({
    env: "TRAWL_SITE_GROUPING",
    shown: "host",
    of: ["host", "domain"],
    doc: "What counts as one site: a host and port, or everything under a registrable domain.",
  }),
  robots: flag({ env: "TRAWL_ROBOTS", shown: true, doc: "Whether robots.txt is kept to." }),
  maxCrawlDelayMs: duration({
    env: "TRAWL_MAX_CRAWL_DELAY",
    shown: "60s",
    least: "0ms",
    most: "24h",
    doc: "Longest crawl-delay of a robots.txt that is kept to.",
  }),
  robotsFreshMs: duration({
    env: "TRAWL_ROBOTS_FRESH",
    shown: "24h",
    least: "1m",
    most: "30d",
    doc: "How long a robots.txt is used before it is asked for again.",
  }),

  routes: routeList({
    env: "TRAWL_ROUTES",
    doc: "Which queue and priority jobs and URLs go to, unless a job says: `[{ match: { spider, job, domain, url }, queue, priority }]`, the first match deciding. See [routing](routing.md).",
  }),

  retries: count({
    env: "TRAWL_RETRIES",
    shown: 4,
    least: 0,
    most: 20,
    doc: "Tries after the first one, before a task is a dead letter.",
  }),
  backoffMs: duration({
    env: "TRAWL_BACKOFF",
    shown: "1s",
    least: "1ms",
    most: "10m",
    doc: "Wait before the first retry; doubled for each further one.",
  }),
  bodyBytes: count({
    env: "TRAWL_BODY_BYTES",
    shown: 10_000_000,
    least: 1000,
    most: 2_000_000_000,
    doc: "Largest body accepted, after decompression.",
  }),
  totalMs: duration({
    env: "TRAWL_TOTAL_TIMEOUT",
    shown: "30s",
    least: "10ms",
    most: "1h",
    doc: "Longest time for one request, to the last byte.",
  }),
  idleMs: duration({
    env: "TRAWL_IDLE_TIMEOUT",
    shown: "15s",
    least: "10ms",
    most: "1h",
    doc: "Longest silence while connecting, waiting for headers or reading.",
  }),
  chromium: text({
    env: "TRAWL_CHROMIUM",
    shown: "auto",
    doc: "The browser that pages are rendered with: the path of Chromium or Chrome. `auto`: where it usually is.",
  }),
  browserSandbox: choice({
    env: "TRAWL_BROWSER_SANDBOX",
    shown: "auto",
    of: ["auto", "on", "off"],
    doc: "Chromium's own sandbox, which root cannot have, nor containers that forbid user namespaces. `auto`: on, except for root.",
  }),
  renderMemoryMs: duration({
    env: "TRAWL_RENDER_MEMORY",
    shown: "24h",
    least: "1m",
    most: "365d",
    doc: "How long a site whose pages were empty without a browser is rendered at once, by jobs with `render: auto`, before it is tried without one again.",
  }),
  tabs: count({
    env: "TRAWL_TABS",
    shown: 4,
    least: 1,
    most: 100,
    doc: "Pages that the browser of one process shows at once; other tasks that have to be rendered wait for one to end. A process takes no more tasks of the queue `render` than that.",
  }),
  pagesPerBrowser: count({
    env: "TRAWL_PAGES_PER_BROWSER",
    shown: 100,
    least: 1,
    most: 1_000_000,
    doc: "Pages after which a process takes a new browser: they grow with every page.",
  }),
  handlerMs: duration({
    env: "TRAWL_HANDLER_TIMEOUT",
    shown: "60s",
    least: "10ms",
    most: "24h",
    doc: "Longest time a spider's handler may take for one page before the task is given up.",
  }),
  redirects: count({ env: "TRAWL_REDIRECTS", shown: 10, least: 0, most: 50, doc: "Redirects followed from one URL." }),
  maxLinks: count({ env: "TRAWL_MAX_LINKS", shown: 5000, least: 0, most: 100_000, doc: "Links taken from one page." }),
  recrawlBytes: count({
    env: "TRAWL_RECRAWL_BYTES",
    shown: 250_000,
    least: 0,
    most: 100_000_000,
    doc: "Most that a recrawl set remembers of what was read from one page; a page with more is fetched in full each time.",
  }),
  ...WEBHOOK_SETTINGS,
  ...TRACING_SETTINGS,
  maxPending: count({
    env: "TRAWL_MAX_PENDING",
    shown: 20_000_000,
    least: 1,
    most: 1_000_000_000,
    doc: "URLs waiting in the broker past which submissions are put off.",
  }),
} as const satisfies Record<string, Field<unknown>>;

export type Settings = typeof SETTINGS;
export type SettingName = keyof Settings;

/** All settings, resolved once, frozen, passed down. */
export type Config = { readonly [Name in SettingName]: NonNullable<ReturnType<Settings[Name]["parse"]>> };
