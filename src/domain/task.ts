import type { TaskRequest } from "./request.ts";

/**
 * The state machine of tasks. Code, the SQL `CHECK` and the diagram in docs/state-machine.md are tested against this
 * table.
 */
export const TASK_MOVES = {
  queued: ["leased", "cancelled"],
  delayed: ["leased", "cancelled"],
  leased: ["queued", "delayed", "done", "dead", "refused", "cancelled"],
  done: [],
  dead: ["queued", "delayed"], // only by an operator's replay; delayed if the replay has a rate
  refused: [],
  cancelled: [],
} as const satisfies Record<string, readonly string[]>;

export type TaskState = keyof typeof TASK_MOVES;

/** What a worker does with a task. It is also the name of the task's queue, unless the job sets another queue. */
export type TaskKind = "fetch" | "render" | "parse" | "deliver";

/** One request for the frontier. `site` is the site whose rate limit applies. */
export type NewTask = {
  /** The canonical URL. A fragment distinguishes tasks of the same URL, see task-url.ts. */
  url: string;
  site: string;
  kind: TaskKind;
  queue: string;
  /** 0 is most urgent, 9 least. */
  priority: number;
  depth: number;
  /** The spider handler for the page; undefined means the default one. */
  handler?: string;
  /** Small JSON value that the spider passes from page to page. */
  carry?: unknown;
  /** Undefined: a GET request without headers of its own. */
  request?: TaskRequest;
  /**
   * Set if the task continues the page of its parent, as after a redirect. It does not count against the page limit.
   */
  redirects?: number;
};

/** Why a task failed permanently. */
export const DEAD_REASONS = {
  http_status: "the site responded with a status that is not retried, such as 404",
  retries_spent: "all retries failed; the history contains the reason of each failure",
  blocked:
    "the site blocked every attempt that the key blocks of the job allows; the message contains the name of the block",
  redirect_loop: "more redirects than allowed, or a redirect to the same URL",
  too_big: "the body, screenshot or PDF is larger than limits.bodyBytes",
  bad_response: "the response is not valid HTTP, cannot be decoded or redirects to an invalid URL; or TLS failed",
  egress_refused: "the address is not on the public internet, and no setting allows it",
  handler_failed:
    "the spider's handler threw or exceeded TRAWL_HANDLER_TIMEOUT, or the worker cannot load the spider or the job",
  body_missing:
    "the worker cannot find the body of the request in TRAWL_BODIES; or the page was fetched, but the parse worker cannot find its body there, or the body is damaged",
  time_limit:
    "the spider's handler was still running at the time limit of the task (TRAWL_TIME_LIMIT or TRAWL_SOFT_TIME_LIMIT), or blocked its process",
  bad_sitemap: "the file is not a sitemap, is damaged, or is an index file nested too deeply",
  not_repeated:
    "the request may have changed data on the site, and is not sent again because the job sets retries.unsafe to false",
  crashed_worker: "three workers died while running this task; the third was running no other task",
} as const;
export type DeadReason = keyof typeof DEAD_REASONS;

/** Why an attempt failed and may be retried. */
export const RETRY_REASONS = {
  timeout: "no complete response, or no ready page in the browser, within the time limit",
  network: "the connection failed or was closed",
  dns: "the host name did not resolve",
  proxy: "the proxy failed, refused the credentials or did not connect to the site; or no proxy fits the job",
  blocked:
    "the response is the page of a bot protection or a captcha; or it is a 403, or a 429 without Retry-After, and the request went through a proxy or the job has the key blocks",
  throttled: "status 429 or 503: the site gets too many requests or is overloaded",
  server_error: "status 408, 425, or 5xx other than 501, 503 and 505; from a webhook endpoint, any 5xx other than 503",
  robots_unreachable: "robots.txt could not be fetched, so no page of the site may be fetched yet",
  login_failed: "the session of the task could not log in, or its login expired again at once",
  render_failed: "the browser or its page failed or crashed",
  not_accepted: "a webhook endpoint responded with 3xx, or with 4xx other than 410 and 429; redirects are not followed",
} as const;
export type RetryReason = keyof typeof RETRY_REASONS;

/** Why a URL was refused and never fetched. */
export const REFUSE_REASONS = {
  robots: "robots.txt disallows it",
  page_limit: "limits.pages is reached",
  job_ended: "the job was cancelled or had ended",
} as const;
export type RefuseReason = keyof typeof REFUSE_REASONS;
