/** How a job uses sessions: identities with cookies of their own, which all workers share. */

export type SessionSpec = {
  /** The number of sessions. The tasks of the job are distributed over them. */
  count: number;
  /** `job`: the sessions are used at all sites. `site`: each site has its own sessions. */
  per: "job" | "site";
  /** A session is replaced by a new one after this many tasks. Undefined: never. */
  rotateAfter: number | undefined;
  /** Whether a retry uses the same session. Set if the job has `blocks`, whose step `session` replaces sessions. */
  isKept?: true;
};

export type LoginSpec = {
  /** The page with the login form. */
  url: string;
  /** The URL to which the form is sent. Undefined: `url`. */
  action: string | undefined;
  /** Form fields whose values are read from the login page, such as CSRF tokens: extraction rules by field name. */
  fields: Readonly<Record<string, string>>;
  /** Values may be references to secrets. */
  form: Readonly<Record<string, string>> | undefined;
  json: Readonly<Record<string, unknown>> | undefined;
  check: LoginCheck;
  expired: ExpiredSession;
};

/** What a successful login has. All parts that are set must hold. */
export type LoginCheck = {
  /** The session has a cookie of this name. */
  cookie?: string;
  /** The page after the login contains an element that matches. */
  selector?: string;
  /** The URL of the page after the login matches this glob. */
  url?: string;
};

/** The response to a request whose session has expired. One of the parts must match. */
export type ExpiredSession = {
  status: readonly number[];
  /** A redirect to a URL that matches this glob. */
  redirect?: string;
  /** The page contains an element that matches, such as a login form. */
  selector?: string;
};

type SessionTask = { taskId: string; attempt: number; request?: { session?: number } | undefined };

/**
 * The session of a task: sessions are numbered from 0. The target of a redirect has the session of the redirect. Each
 * retry uses the next session, unless sessions are kept.
 */
export function sessionNumber({ count, isKept }: SessionSpec, { taskId, attempt, request }: SessionTask): number {
  let sum = isKept === true ? 0 : attempt - 1;
  if (request?.session !== undefined) return (request.session + sum) % count;
  for (let at = 0; at < taskId.length; at++) sum = (sum + taskId.charCodeAt(at) * (at + 1)) % 1_000_000_007;
  return sum % count;
}

/** The key of a session in the broker. */
export function sessionKey({ per }: SessionSpec, jobId: string, site: string, number: number): string {
  return `session:${jobId}:${per === "site" ? site : ""}:${number}`;
}
