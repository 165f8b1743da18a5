/**
 * Fetches a page in the session of its task: with the cookies of the session, after a login if the job has one. If the
 * response shows that the login has expired, the session logs in again, and the request is sent again.
 */
import { compileGlobs } from "../../domain/glob.ts";
import { type ExpiredSession, sessionKey, sessionNumber } from "../../domain/session-spec.ts";
import { isSitemapTask } from "../../domain/sitemap-task.ts";
import type { FetchOutcome, RequestCookies } from "../../fetch/fetcher.ts";
import type { Grant } from "../../frontier/frontier.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { LogIn } from "../../session/log-in.ts";
import type { Session, SessionStore } from "../../session/session-store.ts";
import type { SendRequest } from "../../spider/page-reader.ts";
import { logInAsDeclared, type ReadFields } from "./declared-login.ts";
import type { JobPlan } from "./plan.ts";

export type SessionDeps = {
  clock: Clock;
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

/** How often a request is sent again if another task has renewed the login of the session during the request. */
const MAX_RESENDS = 5;
/** The minimum wait of a task if it is not certain why its response matches `expired`. */
const DOUBT_PAUSE_MS = 5_000;
/** The wait of a task that gets a login page even after a new login. */
const REFUSED_PAUSE_MS = 60_000;

/** The session of a task. */
export type TaskSession = {
  session: Session;
  /** The number of the session in the job. The next session, and the one that replaces this one, have number + 1. */
  identity: number;
  /** Replaces the session by a new one for all tasks, unless another task has done so. */
  replace(): Promise<void>;
};

type SessionChoice = {
  /** The number of the session, if it is known. */
  number?: number;
  /** Whether the last step of the page was `session`. Then the session is first read from the broker. */
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
  for (let resends = 0, hasNewLogin = false; ; resends++) {
    if (hasLogin && !session.isLoggedIn()) {
      const result = await deps.logIn(session, () => sendLogin(session, cookies, run), signal);
      if (result.kind === "failed") {
        return { kind: "retry", because: "login_failed", detail: result.detail, retryAfterMs: result.retryAfterMs };
      }
    }
    const login = session.logins();
    const sentAt = deps.clock.now();
    const outcome = await run.fetch(cookies);
    if (!hasLogin) return outcome;
    if (!isExpired(outcome, plan.spec.login?.expired ?? PLAIN_EXPIRED, run)) {
      session.worked(login, sentAt);
      if (hasNewLogin) await session.judgeLogin(login, true);
      return outcome;
    }
    if (outcome.kind === "page") await outcome.open?.close();
    await session.refresh();
    const isReplaced = session.logins() !== login || !session.isLoggedIn();
    if (!isReplaced && hasNewLogin) await session.judgeLogin(login, false);
    const mayResend = isReplaced || (!hasNewLogin && session.pauseMs() === 0);
    if (!mayResend || resends >= MAX_RESENDS) return refused(outcome, session, run, hasNewLogin);
    await session.expire(login);
    hasNewLogin = true;
  }
}

/**
 * The response matches `expired`, and another login is not expected to help. Either the page itself is forbidden, or
 * the session has just ended again. The first attempt is retried soon. Later attempts decide: if the session
 * works for other pages, or the page was refused after a new login too, an error status belongs to the page itself.
 * Otherwise the task is retried when the session may log in again. A login page must not be stored as the page.
 */
function refused(
  outcome: FetchOutcome,
  session: Session,
  { grant, plan }: SessionRun,
  hasNewLogin: boolean,
): FetchOutcome {
  const isLast = grant.attempt > plan.spec.retries.max;
  const isCertain = isLast || (grant.attempt > 1 && (hasNewLogin || session.hasWorkedInPause()));
  if (isCertain && (outcome.kind === "dead" || outcome.kind === "retry")) return outcome;
  const detail = hasNewLogin
    ? "the response matches login.expired even after a new login"
    : "the response matches login.expired, and the last login of the session did not help";
  const pauseMs = grant.attempt === 1 ? 0 : session.pauseMs();
  const retryAfterMs = isCertain ? REFUSED_PAUSE_MS : Math.max(DOUBT_PAUSE_MS, pauseMs);
  return { kind: "retry", because: "login_failed", detail, retryAfterMs };
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

function isExpired(outcome: FetchOutcome, { status, redirect, selector }: ExpiredSession, run: SessionRun): boolean {
  const { deps, grant } = run;
  if (outcome.kind === "redirect") return redirect !== undefined && compileGlobs([redirect])(outcome.to);
  if (outcome.kind === "dead" || outcome.kind === "retry") {
    return outcome.status !== undefined && status.includes(outcome.status);
  }
  if (outcome.kind !== "page") return false;
  if (status.includes(outcome.page.status)) return true;
  if (selector === undefined) return false;
  // A sitemap may have 50 MB.
  if (isSitemapTask(grant) && !/html/i.test(outcome.page.contentType ?? "")) return false;
  const html = deps.decode(outcome.body, outcome.page.contentType);
  const { found } = deps.readFields({ found: selector }, { url: outcome.page.url, html });
  return found !== undefined && found !== null;
}
