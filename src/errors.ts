/** The catalogue of coded errors: meaning, fix and exit code. `docs/errors.md` is generated from it. */
export const ERRORS = {
  BAD_USAGE: {
    exit: 2,
    means: "An argument or flag of a command is unknown, missing or invalid, or cannot be combined with another one.",
    fix: "Read `trawl <command> --help`.",
  },
  BAD_URL: {
    exit: 2,
    means: "A URL cannot be parsed, contains credentials, is longer than 4096 characters, or is not an http(s) URL.",
    fix: "Use absolute http(s) URLs without credentials.",
  },
  BAD_SELECTOR: {
    exit: 2,
    means: "A selector in an extraction or follow rule is invalid.",
    fix: "Correct the selector; test it with `trawl try`.",
  },
  BAD_JOB: {
    exit: 2,
    means:
      "A job is not valid JSON, has no URLs, or has an unknown key, an invalid value or settings that cannot be combined.",
    fix: "Correct the keys that the message lists; see docs/jobs.md.",
  },
  BAD_SCHEDULE: {
    exit: 2,
    means:
      "A schedule has an unknown key, an invalid value, settings that cannot be combined, or a time that never occurs.",
    fix: "Correct the values that the message names; see docs/schedules.md.",
  },
  BAD_REQUEST: {
    exit: 2,
    means:
      "A request to the API cannot be parsed, lacks a required field, or has an unknown field or an invalid value.",
    fix: "Correct the fields that the message lists; /docs describes each request.",
  },
  ADDRESS_TAKEN: {
    exit: 2,
    means: "The API or the metrics cannot be served at their address, because another process already listens there.",
    fix: "Stop that process, or choose another port with `--port` or `--metrics-port`. To start only workers: `trawl up --no-serve`.",
  },
  BODY_TOO_LARGE: {
    exit: 2,
    means: "The body of a request is larger than the server accepts.",
    fix: "Send URLs as application/x-ndjson to /v1/jobs/{id}/urls, or raise apiBodyBytes.",
  },
  KEY_REUSED: {
    exit: 2,
    means: "An idempotency key was used again for a different job.",
    fix: "Use a new idempotency key for a new job.",
  },
  UNAUTHORIZED: {
    exit: 2,
    means: "The API requires a key, and the key of the request is missing, malformed, unknown, expired or revoked.",
    fix: "Send Authorization: Bearer KEY; an operator creates keys with `trawl keys add`.",
  },
  FORBIDDEN: {
    exit: 2,
    means:
      "The key lacks the required scope, a key with a tenant may not send this request, or the server does not accept the Origin or Host header of the request.",
    fix: "Use a key with the scope that the message names, or a key without a tenant. In a browser, only pages of the same server may call the API. Without API keys, the server accepts only localhost and loopback addresses as Host.",
  },
  QUOTA_REACHED: {
    exit: 2,
    means: "The key has reached a quota: pending URLs, URLs per second, or jobs.",
    fix: "Wait for the time in Retry-After, or ask the operator for a larger quota.",
  },
  EXTRACT_TIMEOUT: {
    exit: 1,
    means: "A preview of extraction rules exceeded its time or memory limit, or its thread ended.",
    fix: "Simplify the rules, or raise apiTryRulesMs. A pattern in `match` that backtracks on a long text may never end.",
  },
  EXTRACT_BUSY: {
    exit: 3,
    means: "Too many previews of extraction rules are waiting, in total or from one caller.",
    fix: "Wait for the time in Retry-After, then send the request again.",
  },
  SCRAPE_TIMEOUT: {
    exit: 1,
    means: "The page was not fetched within the time limit of the request; its job continues.",
    fix: "The response contains the job id: query that job later, or raise timeoutSeconds. If no worker runs, start one.",
  },
  STOPPING: {
    exit: 3,
    means: "The server is stopping.",
    fix: "Send the request again, to another server or to this server after its restart.",
  },
  BAD_CONFIG: {
    exit: 2,
    means:
      "The configuration file cannot be loaded, or a setting is unknown, invalid, or in conflict with another setting or with the broker.",
    fix: "Correct the settings that the message names; see docs/config.md.",
  },
  BAD_SECRET: {
    exit: 2,
    means: "A job references a secret (`env:NAME` or `file:PATH`) that this worker cannot read or may not use.",
    fix: "Set the environment variable or create the file on every worker, and list the reference in TRAWL_SECRETS.",
  },
  BAD_SPIDER: {
    exit: 2,
    means:
      "A spider module cannot be read or compiled, does not export a spider, has invalid settings, or may not be used over HTTP.",
    fix: "Write `export default defineSpider({ … })` in a file that Node.js can load. For jobs sent over HTTP, put the file into the folder TRAWL_API_SPIDERS.",
  },
  BAD_OUTPUT: {
    exit: 2,
    means: "The output file cannot be written, its format is unknown, or its format cannot represent the records.",
    fix: "Set --out to a writable path, and --format to one of the formats in the message.",
  },
  NOT_FOUND: {
    exit: 2,
    means:
      "The job, task, page, path or other entry that the message names does not exist, or several entries have that name.",
    fix: "List existing jobs with `trawl jobs`; for the API, see /docs.",
  },
  DASHBOARD_MISSING: {
    exit: 2,
    means: "The dashboard was not built.",
    fix: "Run `npm run build`, then restart the server.",
  },
  METHOD_NOT_ALLOWED: {
    exit: 2,
    means: "The path exists in the API, but not with this method.",
    fix: "Use a method that the message names; /docs describes each request.",
  },
  NOTHING_TO_RESUME: {
    exit: 2,
    means: "The broker has no crawl, or all its crawls have ended.",
    fix: "List the jobs with `trawl jobs`, or start a crawl: `trawl crawl <url>`.",
  },
  JOB_ENDED: {
    exit: 2,
    means:
      "A job accepts no more URLs after it has ended, or after its submission is complete (it is then sealed). An ended job cannot be paused, resumed or cancelled. The limits of a job that has ended, or has reached its time limit, cannot be changed.",
    fix: "Start a new job. If this job has finished or failed, you can also replay its dead letters.",
  },
  CRAWL_STOPPED: {
    exit: 2,
    means:
      "No process runs the crawl, so it cannot be resumed with `trawl resume` or the API. Workers do not run crawls.",
    fix: "Continue the crawl with `trawl crawl --resume JOB`, on the machine where it ran.",
  },
  JOB_RUNNING: {
    exit: 2,
    means: "The job has not ended, or some of its tasks are still leased, so it cannot be archived or deleted.",
    fix: "Cancel the job, or wait until the job and its tasks have ended.",
  },
  JOB_ARCHIVED: {
    exit: 2,
    means: "The job was archived and is no longer in the broker: it can be read, but not changed.",
    fix: "Submit the job again. TRAWL_KEEP_ENDED sets how long jobs stay in the broker after their end.",
  },
  JOB_DELETED: {
    exit: 2,
    means: "The job that was submitted with this Idempotency-Key was deleted.",
    fix: "Use a new Idempotency-Key for a new job.",
  },
  LIMIT_FIXED: {
    exit: 2,
    means: "On a broker with several shards, a page limit cannot be added to a job that was created without one.",
    fix: "Pause or cancel the job, or set limits.seconds. If a job may need a page limit later, create it with a large limit.",
  },
  COMMAND_REFUSED: {
    exit: 2,
    means:
      "A worker cannot be drained or recycled, because it belongs to a crawl or runs an old version of Trawl; or it cannot be recycled, because it has no supervisor that would replace it.",
    fix: "Do what the message says, or stop the worker with SIGTERM on its machine. The worker then waits up to TRAWL_GRACE for its running tasks and returns the unfinished ones.",
  },
  API_UNREACHABLE: {
    exit: 3,
    means: "The server of --api or TRAWL_API cannot be reached, or is not a Trawl server.",
    fix: "Check the address, and that `trawl serve` runs there.",
  },
  BROKER_UNREACHABLE: {
    exit: 3,
    means:
      "The broker cannot be reached, opened or written. Possible causes: no server, a wrong password, a missing permission, a full disk, or a damaged file.",
    fix: "Check TRAWL_BROKER, and the server or disk that it refers to.",
  },
  BROKER_FULL: {
    exit: 3,
    means: "The broker contains the maximum number of pending URLs, or its Redis has reached maxmemory.",
    fix: "Wait until workers have fetched some URLs, and submit the rest; or raise TRAWL_MAX_PENDING, or maxmemory of Redis.",
  },
  BROKER_UNSAFE: {
    exit: 3,
    means: "The broker is a Redis that may evict keys of Trawl: its maxmemory-policy is not noeviction.",
    fix: "Set maxmemory-policy noeviction on that Redis; see docs/operations.md.",
  },
  BROKER_SCHEMA: {
    exit: 3,
    means: "The broker was written by a newer version of Trawl.",
    fix: "Upgrade Trawl, or use another broker.",
  },
  STORE_UNREACHABLE: {
    exit: 3,
    means:
      "The store or the body storage cannot be reached, opened or written. Possible causes: no server, a wrong password, a missing permission, a full disk, or a damaged file.",
    fix: "Check the setting that the message names (TRAWL_STORE or TRAWL_BODIES), and the server or disk that it refers to.",
  },
  STORE_INCOMPLETE: {
    exit: 3,
    means: "The store contains fewer records than the job has counted; the store was probably removed or replaced.",
    fix: "Restore the store, or crawl again.",
  },
  STORE_SCHEMA: {
    exit: 3,
    means: "The store was written by a newer version of Trawl.",
    fix: "Upgrade Trawl, or use another store.",
  },
  EGRESS_REFUSED: {
    exit: 1,
    means: "The address of a URL is private, loopback, cloud metadata or reserved, so Trawl does not connect to it.",
    fix: "If the network is yours, allow it with TRAWL_ALLOW_PRIVATE.",
  },
  TRACING_UNAVAILABLE: {
    exit: 2,
    means: "Tracing is enabled, but the packages for it are not installed.",
    fix: "Run `npm install @opentelemetry/sdk-trace-node @opentelemetry/exporter-trace-otlp-http`, or remove `TRAWL_OTEL`.",
  },
  BROWSER_UNAVAILABLE: {
    exit: 3,
    means:
      "A page must be rendered, but Chromium cannot be started: it is not installed, or permissions or libraries are missing.",
    fix: "Install Chromium (on Debian: apt-get install chromium-headless-shell), and check the path in the message.",
  },
  INTERNAL: {
    exit: 1,
    means: "Trawl has a bug.",
    fix: "Report the bug, with the message and the command.",
  },
} as const satisfies Record<string, { exit: 1 | 2 | 3; means: string; fix: string }>;

export type ErrorCode = keyof typeof ERRORS;

type TrawlErrorParts = {
  /** The operation that failed, such as `frontier.lease`. */
  op: string;
  /** What happened, to which thing, with the values, and what to change. */
  message: string;
  detail?: Record<string, unknown>;
  cause?: unknown;
};

/** An error that a user can fix or a caller can handle. Branch on `code`, never on the message. */
export class TrawlError extends Error {
  readonly code: ErrorCode;
  readonly op: string;
  readonly detail: Record<string, unknown>;

  constructor(code: ErrorCode, { op, message, detail = {}, cause }: TrawlErrorParts) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "TrawlError";
    this.code = code;
    this.op = op;
    this.detail = detail;
  }

  /** The exit code of a command that fails with this error. */
  get exitCode(): number {
    return ERRORS[this.code].exit;
  }
}

/** True for a TrawlError with one of these codes, or with any code if none is given. */
export function isTrawlError(error: unknown, ...codes: readonly ErrorCode[]): error is TrawlError {
  return error instanceof TrawlError && (codes.length === 0 || codes.includes(error.code));
}
