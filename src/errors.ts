/** Every coded error Trawl throws: what it means and how the process ends. `docs/errors.md` is held equal to this by a test. */
export const ERRORS = {
  BAD_USAGE: {
    exit: 2,
    means: "A command was called with words or flags it does not know.",
    fix: "Read `trawl <command> --help`.",
  },
  BAD_URL: {
    exit: 2,
    means: "A URL cannot be parsed, or its scheme is not http or https.",
    fix: "Give absolute http(s) URLs.",
  },
  BAD_SELECTOR: {
    exit: 2,
    means: "A CSS selector in an extraction or follow rule does not parse.",
    fix: "Correct the selector; test it with `trawl try`.",
  },
  BAD_JOB: {
    exit: 2,
    means: "A job has an unknown key or a value out of range.",
    fix: "Correct the keys the message lists.",
  },
  BAD_SCHEDULE: {
    exit: 2,
    means: "A schedule has an unknown key, a time that cannot be read or never comes, or a value out of range.",
    fix: "Correct what the message names; docs/schedules.md says what a schedule takes.",
  },
  BAD_REQUEST: {
    exit: 2,
    means: "A request to the API has an unknown field, a value out of range, or cannot be read.",
    fix: "Correct what the message lists; /docs says what each request takes.",
  },
  ADDRESS_TAKEN: {
    exit: 2,
    means: "The server cannot listen where it is to: something else does already.",
    fix: "Stop that, choose another port with `--port`, or start workers alone: `trawl up --no-serve`.",
  },
  BODY_TOO_LARGE: {
    exit: 2,
    means: "The body of a request is larger than the server takes.",
    fix: "Send URLs as application/x-ndjson to /v1/jobs/{id}/urls, or raise apiBodyBytes.",
  },
  KEY_REUSED: {
    exit: 2,
    means: "An Idempotency-Key was sent again, with another body.",
    fix: "Take a new key for a new request.",
  },
  UNAUTHORIZED: {
    exit: 2,
    means: "The API asks for a key, and none was sent, or one that it does not know.",
    fix: "Send Authorization: Bearer KEY; an operator makes keys with `trawl keys add`.",
  },
  FORBIDDEN: {
    exit: 2,
    means: "The key may not do that, or the request comes from where nothing is taken from.",
    fix: "Use a key with the scope that the message names.",
  },
  QUOTA_REACHED: {
    exit: 2,
    means: "The key has as much waiting, or asks as often, as it may.",
    fix: "Wait as Retry-After says, or ask the operator for more.",
  },
  EXTRACT_TIMEOUT: {
    exit: 1,
    means: "A page could not be read by the rules that were tried on it in the time and the memory there is for that.",
    fix: "Simplify the rules: a pattern in `match` that tries every way through a long text takes for ever. Or raise apiTryRulesMs.",
  },
  EXTRACT_BUSY: {
    exit: 3,
    means: "More pages wait to be read by rules that are tried than may wait.",
    fix: "Wait as Retry-After says, and ask again.",
  },
  SCRAPE_TIMEOUT: {
    exit: 1,
    means: "A page was not there within the time that the request for it gave; its job goes on.",
    fix: "Ask for the job in the answer later, or give more timeoutSeconds; with no worker there, start one.",
  },
  STOPPING: {
    exit: 3,
    means: "The server is stopping.",
    fix: "Send the request again: another instance, or the next, will take it.",
  },
  BAD_CONFIG: {
    exit: 2,
    means: "Configuration has an unknown key or a value out of range.",
    fix: "Correct the keys the message lists; see docs/config.md.",
  },
  BAD_SPIDER: {
    exit: 2,
    means: "A spider module cannot be read, compiled, or does not export a spider.",
    fix: "Export default defineSpider({ … }) from a file Node can load.",
  },
  BAD_OUTPUT: { exit: 2, means: "The output file cannot be written.", fix: "Choose a writable path with --out." },
  NOT_FOUND: {
    exit: 2,
    means: "No job, task, page or path is called that here.",
    fix: "List what exists with `trawl jobs`; for the API, /docs does.",
  },
  DASHBOARD_MISSING: {
    exit: 2,
    means: "The dashboard was not built.",
    fix: "Run `npm run build`, and start the server again.",
  },
  METHOD_NOT_ALLOWED: {
    exit: 2,
    means: "The API has that path, and takes nothing there by that method.",
    fix: "Use a method that the message names; /docs says what each does.",
  },
  NOTHING_TO_RESUME: {
    exit: 2,
    means: "There is no crawl to go on with in this broker.",
    fix: "Start one: `trawl crawl <url>`.",
  },
  JOB_ENDED: {
    exit: 2,
    means: "The job has ended and takes no more URLs or commands of that kind.",
    fix: "Start a new job, or replay its dead letters.",
  },
  JOB_RUNNING: {
    exit: 2,
    means: "The job has not ended, so it can be neither forgotten nor deleted.",
    fix: "Cancel it first, or wait until it has ended.",
  },
  JOB_ARCHIVED: {
    exit: 2,
    means: "The job ended long ago and has left the broker: it can be looked at, and not steered any more.",
    fix: "Submit it anew; TRAWL_KEEP_ENDED says how long jobs stay after their end.",
  },
  JOB_DELETED: {
    exit: 2,
    means: "The job that this id or Idempotency-Key stands for was deleted.",
    fix: "Take a new key for a new job.",
  },
  LIMIT_FIXED: {
    exit: 2,
    means:
      "A job that was made without a page limit cannot be given one on a broker that is spread over several shards.",
    fix: "Pause or cancel it, or limit its seconds; jobs that will need a page limit are given a large one at the start.",
  },
  ORDER_REFUSED: {
    exit: 2,
    means: "A worker was asked for what it cannot do: it has nobody to take its place, is a crawl's own, or too old.",
    fix: "Stop it on its machine with SIGTERM: it ends what it has in hand.",
  },
  API_UNREACHABLE: {
    exit: 3,
    means: "The server that --api or TRAWL_API names cannot be reached, or what answers there is no trawl serve.",
    fix: "Check the address, and that `trawl serve` runs there.",
  },
  BROKER_UNREACHABLE: {
    exit: 3,
    means:
      "The broker cannot be reached, opened or written: no server there, a wrong password, missing rights, a full disk, a damaged file.",
    fix: "Check TRAWL_BROKER, and the server or disk behind it.",
  },
  BROKER_FULL: {
    exit: 3,
    means: "The broker holds as many waiting URLs as it may.",
    fix: "Let workers catch up and submit the rest, or raise maxPending.",
  },
  BROKER_UNSAFE: {
    exit: 3,
    means: "The broker is a Redis that may throw URLs away: its maxmemory-policy is not noeviction.",
    fix: "Set maxmemory-policy noeviction on that Redis; see docs/operations.md.",
  },
  BROKER_SCHEMA: {
    exit: 3,
    means: "The broker was written by a newer Trawl.",
    fix: "Upgrade Trawl, or use another broker.",
  },
  STORE_UNREACHABLE: {
    exit: 3,
    means:
      "The store, or where bodies go, cannot be reached, opened or written: no server there, a wrong password, missing rights, a full disk, a damaged file.",
    fix: "Check what the message names, TRAWL_STORE or TRAWL_BODIES, and the server or disk behind it.",
  },
  STORE_INCOMPLETE: {
    exit: 3,
    means: "The store holds fewer records than the job has brought in: it was removed or replaced.",
    fix: "Bring it back, or crawl again.",
  },
  STORE_SCHEMA: {
    exit: 3,
    means: "The store was written by a newer Trawl.",
    fix: "Upgrade Trawl, or use another store.",
  },
  EGRESS_REFUSED: {
    exit: 1,
    means: "The address of a URL may not be reached: private, loopback or metadata network.",
    fix: "Allow the network with TRAWL_ALLOW_PRIVATE if it is yours.",
  },
  TRACING_UNAVAILABLE: {
    exit: 2,
    means: "Traces are asked for, and the packages that send them are not installed.",
    fix: "`npm install @opentelemetry/sdk-trace-node @opentelemetry/exporter-trace-otlp-http`, or leave out `TRAWL_OTEL`.",
  },
  BROWSER_UNAVAILABLE: {
    exit: 3,
    means: "A page has to be rendered, and Chromium cannot be started: not installed, missing rights or libraries.",
    fix: "Install Chromium (on Debian: apt-get install chromium-headless-shell), and see what the message says of its path.",
  },
  INTERNAL: {
    exit: 1,
    means: "Trawl met a case it does not know: a bug.",
    fix: "Report it with the message and what you ran.",
  },
} as const satisfies Record<string, { exit: 1 | 2 | 3; means: string; fix: string }>;

export type ErrorCode = keyof typeof ERRORS;

export type TrawlErrorParts = {
  /** What was being done, e.g. `frontier.lease`. */
  op: string;
  /** What happened, to which thing, with the values, and what to change. */
  message: string;
  detail?: Record<string, unknown>;
  cause?: unknown;
};

/** The only error class Trawl throws on purpose. Branch on `code`, never on the message. */
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

  /** The exit code a command ends with when this error reaches it. */
  get exitCode(): number {
    return ERRORS[this.code].exit;
  }
}

/** True for an error of ours with one of these codes. */
export function isTrawlError(error: unknown, ...codes: readonly ErrorCode[]): error is TrawlError {
  return error instanceof TrawlError && (codes.length === 0 || codes.includes(error.code));
}
