/** How a task may move. Code, the SQL `CHECK` and the diagram in docs/state-machine.md are tested against this table. */
export const TASK_MOVES = {
  queued: ["leased", "cancelled"],
  delayed: ["leased", "cancelled"],
  leased: ["queued", "delayed", "done", "dead", "refused", "cancelled"],
  done: [],
  dead: ["queued", "delayed"], // only by an operator's replay, at a rate
  refused: [],
  cancelled: [],
} as const satisfies Record<string, readonly string[]>;

export type TaskState = keyof typeof TASK_MOVES;

/** How a task is worked on; also the name of the queue it goes to unless the job says otherwise. */
export type TaskKind = "fetch" | "render" | "parse" | "deliver";

/** One URL offered to the frontier. `url` is in canonical form and `site` is its politeness key. */
export type NewTask = {
  url: string;
  site: string;
  kind: TaskKind;
  queue: string;
  /** 0 is most urgent, 9 least. */
  priority: number;
  depth: number;
  /** The spider handler that takes the page; undefined is the default one. */
  handler?: string;
  /** Small JSON the spider hands from page to page. */
  carry?: unknown;
  /** Set when a redirect led here: such a task continues its parent's page, and is not counted against a page limit. */
  redirects?: number;
};

/** Why a task was given up on. */
export const DEAD_REASONS = {
  http_status: "the site answered with a status that is not worth repeating, such as 404",
  retries_spent: "every retry failed; the history says how",
  redirect_loop: "more redirects than allowed",
  too_big: "the body is over limits.bodyBytes",
  bad_response: "the answer is not HTTP, or cannot be decoded",
  egress_refused: "the address is private, loopback or metadata, and not allowed",
  handler_failed: "the spider's handler threw",
  body_missing:
    "its page was fetched, but its body is damaged, or not where the worker that was to parse it looks (TRAWL_BODIES)",
  time_limit: "the spider's handler was still at it when the time limit of the task was over",
  crashed_worker: "three workers died while holding it, the last with nothing else in hand",
} as const;
export type DeadReason = keyof typeof DEAD_REASONS;

/** Why a try ended without a page, and may be made again. */
export const RETRY_REASONS = {
  timeout: "no answer, or no end of it, in time",
  network: "the connection failed or broke",
  dns: "the host name did not resolve",
  throttled: "429, or 503: the site asks for less",
  server_error: "another 5xx, or 408 or 425",
  robots_unreachable: "robots.txt could not be had, so nothing may be fetched yet",
  render_failed: "the browser or its page crashed",
  not_accepted: "the endpoint of a webhook answered with something else than 2xx; redirects are not followed",
} as const;
export type RetryReason = keyof typeof RETRY_REASONS;

/** Why a URL was never fetched, though it was offered. */
export const REFUSE_REASONS = {
  robots: "robots.txt disallows it",
  page_limit: "limits.pages is reached",
  job_ended: "the job had been cancelled or had ended",
} as const;
export type RefuseReason = keyof typeof REFUSE_REASONS;
