/** Every setting of Trawl. docs/config.md is generated from this schema. */

import { BODY_SETTINGS } from "./body-settings.ts";
import {
  autoCount,
  choice,
  count,
  duration,
  type Field,
  flag,
  headerSecret,
  headerText,
  limit,
  list,
  name,
  orNever,
  rate,
  serverUrl,
  text,
} from "./fields.ts";
import { METRICS_SETTINGS } from "./metrics-settings.ts";
import { PROXY_SETTINGS } from "./proxy-settings.ts";
import { routeList } from "./route-list.ts";
import { SERVER_SETTINGS } from "./server-settings.ts";
import { TRACING_SETTINGS } from "./tracing-settings.ts";
import { WEBHOOK_SETTINGS } from "./webhook-settings.ts";

export const SETTINGS = {
  broker: text({
    env: "TRAWL_BROKER",
    default: "sqlite:.trawl/broker.db",
    isSecret: true,
    doc: "Connection URL of the broker: `sqlite:PATH`; for a fleet `redis://[user:password@]host:port[/db]`, `redis+cluster://host:port,host:port` or `redis+sentinel://host:port,host:port/master[?sentinelUser=…&sentinelPassword=…]`. For TLS, write `rediss` instead of `redis`. Parameters for TLS: `ca`, `cert` and `key`, the paths of PEM files.",
  }),
  brokerPrefix: name({
    env: "TRAWL_BROKER_PREFIX",
    default: "trawl",
    doc: "Prefix of all keys in a Redis broker. Fleets with different prefixes can use the same server; their jobs are separate.",
  }),
  brokerShards: autoCount({
    env: "TRAWL_BROKER_SHARDS",
    min: 1,
    max: 1024,
    doc: "Number of shards of a Redis broker. The sites are distributed over the shards. The number must be the same for all processes of a fleet. `auto`: 1, or 16 on a cluster.",
  }),
  brokerRetryForMs: duration({
    env: "TRAWL_BROKER_RETRY_FOR",
    default: "60s",
    min: "100ms",
    max: "1h",
    doc: "How long `trawl worker`, `up`, `crawl`, `submit` and `delete` retry calls to an unreachable Redis broker before they exit. Other commands retry for at most 5 seconds. A running server does not exit. It responds with 503 after the retries: in `trawl serve` after at most 5 seconds, in `trawl up` after this time.",
  }),
  store: text({
    env: "TRAWL_STORE",
    default: "sqlite:.trawl/store.db",
    isSecret: true,
    doc: "Connection URL of the store for pages and records: `sqlite:PATH`; for a fleet `postgres://user:password@host:port/database[?PARAMETERS]`. Parameters: `schema` (default `trawl`); `sslmode`, one of `disable`, `prefer`, `require`, `verify-full` (default `prefer`, or `verify-full` if `ca` is set); `ca`, `cert` and `key`, the paths of PEM files.",
  }),
  storeRetryForMs: duration({
    env: "TRAWL_STORE_RETRY_FOR",
    default: "60s",
    min: "100ms",
    max: "1h",
    doc: "How long a process retries calls to an unreachable PostgreSQL store before it exits. A running server does not exit. It responds with 503 after the retries.",
  }),
  ...BODY_SETTINGS,
  allowPrivate: list({
    env: "TRAWL_ALLOW_PRIVATE",
    doc: "Networks outside the public internet to which Trawl may send requests for pages and webhook events, such as `127.0.0.0/8,10.1.0.0/16`.",
  }),
  secrets: list({
    env: "TRAWL_SECRETS",
    doc: "Secrets that jobs may reference in headers, logins and proxies, such as `env:SHOP_*,file:/run/secrets/*`. `*` matches any characters. A worker resolves the references; the values are never stored. `trawl crawl` and `trawl try` may use all secrets, because they run only the jobs of their user.",
  }),
  ...PROXY_SETTINGS,
  userAgent: headerText({
    env: "TRAWL_USER_AGENT",
    default: "Trawl/0.1 (polite crawler)",
    doc: "User-Agent header of every request, unless the job sets this header. The name at its start (letters, `_` and `-`) selects the rules in robots.txt: `Trawl` in the default. Include a way to contact you.",
  }),
  logLevel: choice({
    env: "TRAWL_LOG_LEVEL",
    default: "warn",
    of: ["debug", "info", "warn", "error", "silent"],
    doc: "Minimum level of the log lines on stderr.",
  }),

  api: serverUrl({
    env: "TRAWL_API",
    default: "none",
    doc: "URL of a server (`trawl serve`), such as `https://trawl.example`. Commands that accept `--api` call this server instead of opening the broker and the store. `none`: commands open the broker and the store themselves. `--broker` and `--store` override this setting.",
  }),
  apiKey: headerSecret({
    env: "TRAWL_API_KEY",
    doc: "The key that commands send to `TRAWL_API`. There is no flag for the key, because other users of the machine can read the arguments of a process.",
  }),
  apiTries: count({
    env: "TRAWL_API_TRIES",
    default: 7,
    min: 1,
    max: 20,
    doc: "Maximum number of attempts to send a request to `TRAWL_API`. A command tries again if the connection fails, or if the server is stopping or busy (429, 502, 503). The wait between attempts starts at 250 ms and doubles up to 10 s. If the server requests a wait of more than 10 s, the command fails at once. A request that must not take effect twice is sent again only if the connection was refused.",
  }),
  ...SERVER_SETTINGS,
  keepEndedMs: orNever(
    duration({
      env: "TRAWL_KEEP_ENDED",
      default: "7d",
      min: "1s",
      max: "3650d",
      doc: "How long a job stays in the broker after its end. Then a server or worker archives the job: the job and its results can be read from the store, its dead letters are removed, and the job can no longer be changed. `never`: jobs stay in the broker.",
    }),
  ),
  ...METRICS_SETTINGS,
  scheduleGraceMs: duration({
    env: "TRAWL_SCHEDULE_GRACE",
    default: "60s",
    min: "1s",
    max: "1d",
    doc: "If no server processes an occurrence of a schedule within this time after its due time, the occurrence is missed, and the catch-up policy of the schedule applies.",
  }),

  concurrency: count({
    env: "TRAWL_CONCURRENCY",
    default: 100,
    min: 1,
    max: 1000,
    doc: "Maximum number of tasks that one process runs at once. With `pool: solo`, the default is 1.",
  }),
  leaseMs: duration({
    env: "TRAWL_LEASE",
    default: "60s",
    min: "1s",
    max: "1h",
    doc: "Time after which a lease expires, unless the worker renews it. If a worker dies, its tasks wait until their leases expire, or until another process on the same machine detects that the worker is dead.",
  }),
  graceMs: duration({
    env: "TRAWL_GRACE",
    default: "5s",
    min: "0ms",
    max: "10m",
    doc: "How long a stopping process waits for running tasks before it returns them to the broker. A stopping server waits the same time for requests in progress. After `trawl workers drain` or `recycle`, a worker first waits up to 12 times this long for its tasks, and then stops like any other process.",
  }),
  flushMs: duration({
    env: "TRAWL_FLUSH",
    default: "10ms",
    min: "0ms",
    max: "10s",
    doc: "How long the result of a task may wait for other results, so that they are written in one batch. With more than 32 running tasks, a result may wait three times as long.",
  }),

  processes: count({
    env: "TRAWL_PROCESSES",
    default: 1,
    min: 1,
    max: 256,
    doc: "Number of processes that `trawl worker` starts, each with its own `concurrency`.",
  }),
  pool: choice({
    env: "TRAWL_POOL",
    default: "auto",
    of: ["auto", "solo"],
    doc: "`auto`: `trawl worker`, and `trawl crawl` with a spider, run the tasks in child processes, and replace a child process that dies or reaches a limit. `solo`: the command runs the tasks in its own process, one at a time unless `concurrency` is set. It exits when the process reaches a limit, and a handler that blocks the process cannot be stopped.",
  }),
  maxTasksPerChild: limit(
    count({
      env: "TRAWL_MAX_TASKS_PER_CHILD",
      default: 1,
      min: 1,
      max: 1_000_000_000,
      doc: "Number of tasks after which a worker process is replaced.",
    }),
  ),
  maxMemoryPerChildMb: limit(
    count({
      env: "TRAWL_MAX_MEMORY_PER_CHILD",
      default: 128,
      min: 128,
      max: 1_000_000,
      doc: "Memory in MB (1,000,000 bytes) above which a worker process finishes its current tasks and is replaced. The JavaScript heap of the process is limited to the same size. A process that uses more than twice as much memory is killed.",
    }),
  ),
  timeLimitMs: limit(
    duration({
      env: "TRAWL_TIME_LIMIT",
      default: "1h",
      min: "1s",
      max: "24h",
      doc: "Maximum time for one task, from lease to result. A task that takes longer is aborted. If its handler was running, the task becomes a dead letter (`time_limit`). Otherwise, for example if it was waiting for its site, it is retried later. A handler that blocks its process cannot be aborted, so the supervisor kills the process. The task of this handler then becomes a dead letter (`time_limit`); if handlers of several tasks were running, these tasks are retried instead. The other tasks of the process are returned unchanged. Even without a time limit, a process that is blocked for two thirds of `leaseMs` (at least 10 s) is killed, because its leases would expire.",
    }),
  ),
  softTimeLimitMs: limit(
    duration({
      env: "TRAWL_SOFT_TIME_LIMIT",
      default: "1h",
      min: "10ms",
      max: "24h",
      doc: "Time after which a task is aborted, counted from its lease. If its handler was running, the task becomes a dead letter (`time_limit`). Otherwise, it is retried later. Unlike `timeLimitMs`, this limit never causes a process to be killed. It must not exceed `timeLimitMs`.",
    }),
  ),

  rate: rate({ env: "TRAWL_RATE", default: "4/s", doc: "Rate of requests to one site." }),
  burst: count({
    env: "TRAWL_BURST",
    default: 1,
    min: 1,
    max: 1000,
    doc: "Number of requests that may be sent to a site at once after a pause.",
  }),
  perSite: count({
    env: "TRAWL_PER_SITE",
    default: 4,
    min: 1,
    max: 1000,
    doc: "Maximum number of concurrent requests to one site.",
  }),
  siteGrouping: choice({
    env: "TRAWL_SITE_GROUPING",
    default: "host",
    of: ["host", "domain"],
    doc: "What counts as one site. `host`: a host, with its port unless the port is 80 or 443. `domain`: all hosts under a registrable domain.",
  }),
  robots: flag({ env: "TRAWL_ROBOTS", default: true, doc: "Whether robots.txt is respected." }),
  adaptive: flag({
    env: "TRAWL_ADAPTIVE",
    default: true,
    doc: "Whether Trawl sends fewer requests than the rate allows to a site that responds slowly or with errors.",
  }),
  maxCrawlDelayMs: duration({
    env: "TRAWL_MAX_CRAWL_DELAY",
    default: "60s",
    min: "0ms",
    max: "24h",
    doc: "Maximum crawl-delay from robots.txt; longer delays are reduced to this value.",
  }),
  robotsFreshMs: duration({
    env: "TRAWL_ROBOTS_FRESH",
    default: "24h",
    min: "1m",
    max: "30d",
    doc: "How long a robots.txt is used before it is fetched again.",
  }),

  routes: routeList({
    env: "TRAWL_ROUTES",
    doc: "Rules that select the queue and the priority of jobs and URLs, unless the job sets its own: `[{ match: { spider, job, domain, url }, queue, priority }]`. The first rule that matches applies. See [routing](routing.md).",
  }),

  retries: count({
    env: "TRAWL_RETRIES",
    default: 4,
    min: 0,
    max: 20,
    doc: "Number of retries before a task becomes a dead letter.",
  }),
  backoffMs: duration({
    env: "TRAWL_BACKOFF",
    default: "1s",
    min: "1ms",
    max: "10m",
    doc: "Wait before the first retry; it doubles with each further retry, up to 10 minutes. A random time of up to 25% of the wait is added to each wait.",
  }),
  bodyBytes: count({
    env: "TRAWL_BODY_BYTES",
    default: 10_000_000,
    min: 1000,
    max: 2_000_000_000,
    doc: "Maximum size in bytes of a body after decompression, and of a screenshot or PDF.",
  }),
  totalMs: duration({
    env: "TRAWL_TOTAL_TIMEOUT",
    default: "30s",
    min: "10ms",
    max: "1h",
    doc: "Timeout of one request, up to the last byte, and of rendering one page.",
  }),
  idleMs: duration({
    env: "TRAWL_IDLE_TIMEOUT",
    default: "15s",
    min: "10ms",
    max: "1h",
    doc: "Maximum time to open a connection, to wait for the headers of a response, and to wait for more data of its body.",
  }),
  chromium: text({
    env: "TRAWL_CHROMIUM",
    default: "auto",
    doc: "Path of the Chromium or Chrome program that renders pages. `auto`: Trawl searches the usual locations.",
  }),
  browserSandbox: choice({
    env: "TRAWL_BROWSER_SANDBOX",
    default: "auto",
    of: ["auto", "on", "off"],
    doc: "Whether Chromium uses its own sandbox. The sandbox does not work for root, or in containers that forbid user namespaces. `auto`: on, except for root.",
  }),
  renderMemoryMs: duration({
    env: "TRAWL_RENDER_MEMORY",
    default: "24h",
    min: "1m",
    max: "365d",
    doc: "If a page of a site is empty without a browser, jobs with `render: auto` render all pages of the site for this time. Then they fetch the pages without a browser again.",
  }),
  tabs: count({
    env: "TRAWL_TABS",
    default: 4,
    min: 1,
    max: 100,
    doc: "Maximum number of pages that the browser of one process renders at once; further render tasks wait. It is also the maximum number of tasks of the queue `render` that a process runs at once.",
  }),
  pagesPerBrowser: count({
    env: "TRAWL_PAGES_PER_BROWSER",
    default: 100,
    min: 1,
    max: 1_000_000,
    doc: "Number of pages after which a process restarts its browser, because a browser's memory grows with every page.",
  }),
  handlerMs: duration({
    env: "TRAWL_HANDLER_TIMEOUT",
    default: "60s",
    min: "10ms",
    max: "24h",
    doc: "Maximum time for a spider's handler on one page. If the handler takes longer, the task becomes a dead letter (`handler_failed`).",
  }),
  redirects: count({
    env: "TRAWL_REDIRECTS",
    default: 10,
    min: 0,
    max: 50,
    doc: "Maximum number of redirects followed from one URL.",
  }),
  maxLinks: count({
    env: "TRAWL_MAX_LINKS",
    default: 5000,
    min: 0,
    max: 100_000,
    doc: "Maximum number of links that are followed from one page; further links are refused.",
  }),
  recrawlBytes: count({
    env: "TRAWL_RECRAWL_BYTES",
    default: 250_000,
    min: 0,
    max: 100_000_000,
    doc: "Maximum size in bytes of the records and links that a recrawl set stores for one page. A page with more records and links is downloaded in every crawl.",
  }),
  ...WEBHOOK_SETTINGS,
  ...TRACING_SETTINGS,
  maxPending: count({
    env: "TRAWL_MAX_PENDING",
    default: 20_000_000,
    min: 1,
    max: 1_000_000_000,
    doc: "Maximum number of pending URLs in the broker. When it is reached, `trawl submit` waits until workers have fetched some of them, and the API and `trawl crawl` reject further URLs. Links that workers find are always queued.",
  }),
} as const satisfies Record<string, Field<unknown>>;

export type Settings = typeof SETTINGS;
export type SettingName = keyof Settings;

/** All settings. They are resolved once and frozen. */
export type Config = { readonly [Name in SettingName]: NonNullable<ReturnType<Settings[Name]["parse"]>> };
