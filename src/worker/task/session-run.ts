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

/** A task logs in at most this often. A site whose sessions expire at once would otherwise never be left. */
const MAX_LOGINS = 3;

/** The session of a task; undefined if the job has no sessions. */
export async function openSession({
  deps,
  grant,
  plan,
}: Pick<SessionRun, "deps" | "grant" | "plan">): Promise<Session | undefined> {
  const { sessions } = plan.spec;
  if (sessions === undefined) return undefined;
  const number = sessionNumber(sessions, grant);
  return deps.sessions.open(sessionKey(sessions, grant.jobId, grant.site, number));
}

export async function fetchInSession(session: Session, run: SessionRun): Promise<FetchOutcome> {
  const { deps, plan, signal } = run;
  const cookies = cookiesOf(session);
  const hasLogin = plan.spec.login !== undefined || plan.logIn !== undefined;
  for (let logins = 0; logins < MAX_LOGINS; logins++) {
    if (hasLogin && !session.isLoggedIn()) {
      const result = await deps.logIn(session, () => sendLogin(session, cookies, run), signal);
      if (result.kind === "failed") {
        return { kind: "retry", because: "login_failed", detail: result.detail, retryAfterMs: result.retryAfterMs };
      }
    }
    const login = session.logins();
    await session.use(plan.spec.sessions?.rotateAfter);
    const outcome = await run.fetch(cookies);
    if (!hasLogin || !isExpired(outcome, plan.spec.login?.expired ?? PLAIN_EXPIRED, deps)) return outcome;
    await session.expire(login);
  }
  return { kind: "retry", because: "login_failed", detail: `the login expired ${MAX_LOGINS} times in a row` };
}

const PLAIN_EXPIRED: ExpiredSession = { status: [401] };

export function cookiesOf(session: Session): RequestCookies {
  const { jar } = session;
  return {
    session: session.key,
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
