/**
 * Fetches a page in the session of its task: with the cookies of the session, after a login if the job has one. If the
 * response shows that the login has expired, the session logs in again, and the request is sent again.
 */
import { compileGlobs } from "../../domain/glob.ts";
import { type ExpiredSession, sessionKey, sessionNumber } from "../../domain/session-spec.ts";
import type { FetchOutcome, RequestCookies } from "../../fetch/fetcher.ts";
import type { Grant } from "../../frontier/frontier.ts";
import type { LogIn } from "../../session/log-in.ts";
import type { Session, SessionStore } from "../../session/session-store.ts";
import type { SendRequest } from "../../spider/page-reader.ts";
import { logInAsDeclared, type ReadFields } from "./declared-login.ts";
import type { JobPlan } from "./plan.ts";

export type SessionDeps = {
  sessions: SessionStore;
  logIn: LogIn;
  readFields: ReadFields;
  decode(body: Buffer, contentType: string | undefined): string;
};

type SessionRun = {
  deps: SessionDeps;
  grant: Grant;
  plan: JobPlan;
  signal: AbortSignal;
  /** Sends requests of the login in the session. */
  sendIn(cookies: RequestCookies): SendRequest;
  fetch(cookies: RequestCookies): Promise<FetchOutcome>;
};

/** How often a task lets its session log in again. Otherwise a page that always answers 401 would do so for ever. */
const MAX_RELOGINS = 1;
/** How long a task waits that was refused after a new login. */
const REFUSED_PAUSE_MS = 60_000;

/** The session of a task. */
export type TaskSession = {
  session: Session;
  /** Distinguishes the sessions of a job: the next session, and the one that replaces this one, have the next number. */
  identity: number;
  /** Replaces the session by a new one for all tasks, unless another task has done so. */
  replace(): Promise<void>;
};

type SessionChoice = {
  /** The number of the session, if it is known. */
  number?: number;
  /** Whether the task waits for a session that another worker may just have replaced. */
  isReplaced?: boolean;
};

/**
 * The session of a task; undefined if the job has no sessions. After `rotateAfter` tasks, and after a block, new tasks
 * get a new session. Tasks that run keep theirs.
 */
export async function openSession(
  { deps, grant, plan }: Pick<SessionRun, "deps" | "grant" | "plan">,
  { number, isReplaced }: SessionChoice,
): Promise<TaskSession | undefined> {
  const { sessions } = plan.spec;
  if (sessions === undefined) return undefined;
  const nth = number ?? sessionNumber(sessions, grant);
  const key = sessionKey(sessions, grant.jobId, grant.site, nth);
  const first = await deps.sessions.open(key);
  if (isReplaced === true) await first.refresh();
  const replaced = first.replaced();
  const { rotateAfter } = sessions;
  const rotations = rotateAfter === undefined ? 0 : Math.floor((first.use() - 1) / rotateAfter);
  const generation = rotations + replaced;
  const isFirst = rotateAfter === undefined && generation === 0;
  const session = isFirst ? first : await deps.sessions.open(`${key}:${generation}`);
  return { session, identity: nth + generation, replace: () => first.replace(replaced) };
}

export async function fetchInSession(opened: TaskSession, run: SessionRun): Promise<FetchOutcome> {
  const { deps, plan, signal } = run;
  const { session } = opened;
  const cookies = cookiesOf(opened);
  const hasLogin = plan.spec.login !== undefined || plan.logIn !== undefined;
  for (let logins = 0; ; logins++) {
    if (hasLogin && !session.isLoggedIn()) {
      const result = await deps.logIn(session, () => sendLogin(session, cookies, run), signal);
      if (result.kind === "failed") {
        return { kind: "retry", because: "login_failed", detail: result.detail, retryAfterMs: result.retryAfterMs };
      }
    }
    const login = session.logins();
    const outcome = await run.fetch(cookies);
    if (!hasLogin || !isExpired(outcome, plan.spec.login?.expired ?? PLAIN_EXPIRED, deps)) return outcome;
    if (logins >= MAX_RELOGINS) return refused(outcome);
    if (outcome.kind === "page") await outcome.open?.close();
    await session.expire(login);
  }
}

/**
 * The site refuses the page even after a new login. An error status belongs to the page itself. A login page must not
 * be stored as the page.
 */
async function refused(outcome: FetchOutcome): Promise<FetchOutcome> {
  if (outcome.kind === "dead" || outcome.kind === "retry") return outcome;
  if (outcome.kind === "page") await outcome.open?.close();
  const detail = "the response matches login.expired even after a new login";
  return { kind: "retry", because: "login_failed", detail, retryAfterMs: REFUSED_PAUSE_MS };
}

const PLAIN_EXPIRED: ExpiredSession = { status: [401] };

export function cookiesOf({ session, identity }: TaskSession): RequestCookies {
  const { jar } = session;
  return {
    session: session.key,
    identity,
    headerFor: (url) => jar.headerFor(url),
    receive(url, setCookies) {
      jar.receive(url, setCookies);
      if (jar.hasChanges()) session.changed();
    },
    list: () => jar.list(),
    set(cookies) {
      jar.set(cookies);
      if (jar.hasChanges()) session.changed();
    },
  };
}

async function sendLogin(session: Session, cookies: RequestCookies, { deps, plan, sendIn }: SessionRun): Promise<void> {
  const findCookie = (url: string, name: string) => session.jar.find(url, name);
  // Without the cookies of the expired login, a check for a cookie proves that the new login has set it.
  if (session.logins() > 0) session.jar.clear();
  const send = sendIn(cookies);
  if (plan.logIn !== undefined) return plan.logIn({ send, findCookie });
  const { login } = plan.spec;
  if (login === undefined) return;
  const { readFields } = deps;
  await logInAsDeclared(login, { send, readFields, resolveSecret: plan.resolveSecret, findCookie });
}

function isExpired(outcome: FetchOutcome, { status, redirect, selector }: ExpiredSession, deps: SessionDeps): boolean {
  if (outcome.kind === "redirect") return redirect !== undefined && compileGlobs([redirect])(outcome.to);
  if (outcome.kind === "dead" || outcome.kind === "retry") {
    return outcome.status !== undefined && status.includes(outcome.status);
  }
  if (outcome.kind !== "page") return false;
  if (status.includes(outcome.page.status)) return true;
  if (selector === undefined) return false;
  const html = deps.decode(outcome.body, outcome.page.contentType);
  const { found } = deps.readFields({ found: selector }, { url: outcome.page.url, html });
  return found !== undefined && found !== null;
}
