/**
 * The `request` function of a spider's handler: one more request that a page needs, such as a call to an API. It
 * follows the rules of a page request: robots.txt, the rate of the site, the egress gate, retries, redirects. The
 * requests of one handler are sent one after another, so a task never has more than one request in flight.
 */
import { backoffMs } from "../../domain/backoff.ts";
import { canonicalUrl } from "../../domain/canonical-url.ts";
import { isSafe, requestAfterRedirect, type TaskRequest } from "../../domain/request.ts";
import { originOf, siteOf } from "../../domain/site.ts";
import type { Fetcher, FetchLimits, FetchOutcome, RequestCookies } from "../../fetch/fetcher.ts";
import type { RobotsPolicy } from "../../fetch/robots.ts";
import type { Grant } from "../../frontier/frontier.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { RequestAnswer, SendRequest } from "../../spider/page-reader.ts";
import type { JobPlan } from "./plan.ts";

type Deps = {
  fetcher: Fetcher;
  robots: RobotsPolicy;
  decode(body: Buffer, contentType: string | undefined): string;
  clock: Clock;
};

type HandlerRequest = {
  deps: Deps;
  /** The session of the task, if it has one. */
  cookies?: RequestCookies | undefined;
  /** Whether robots.txt is checked. A login is configured by the user, so it is not checked. */
  obeysRobots: boolean;
  options: { limits: Omit<FetchLimits, "bodyBytes">; maxRedirects: number };
  grant: Grant;
  plan: JobPlan;
  signal: AbortSignal;
};

export function createHandlerRequest(run: HandlerRequest): SendRequest {
  const { deps, options, cookies, obeysRobots, grant, plan, signal } = run;
  const { spec } = plan;
  let last: Promise<unknown> = Promise.resolve();

  async function sendOne(url: string, request: TaskRequest | undefined, redirects: number): Promise<FetchOutcome> {
    const site = siteOf(url, spec.siteGrouping);
    if (obeysRobots && spec.politeness.robots) {
      const rules = await deps.robots.rulesAt(url, site, { signal });
      if (rules.kind === "unreachable") return { kind: "retry", because: "robots_unreachable", detail: rules.detail };
      if (!rules.allows(url)) throw new Error(`request: robots.txt disallows ${url}`);
    }
    const { method = "GET", body } = request ?? {};
    return deps.fetcher.fetch({
      ...{ url, site, method, cookies, signal, exits: plan.exits },
      ...(body === undefined ? {} : { body }),
      profile: plan.profileFor?.(site, cookies),
      mayRepeat: isSafe(method) || spec.retries.unsafe !== false,
      limits: { ...options.limits, bodyBytes: spec.limits.bodyBytes },
      // The depth of a link: the page may have been written by anyone, so it does not decide who gets secrets.
      headers: plan.headersFor({ url, depth: grant.depth + 1, redirects, request }),
    });
  }

  /** Sends the request until it succeeds, fails permanently, or has used up its retries. */
  async function sendAndRetry(url: string, request: TaskRequest | undefined, redirects: number): Promise<FetchOutcome> {
    const mayRetry = isSafe(request?.method ?? "GET") || spec.retries.unsafe !== false;
    for (let failures = 0; ; ) {
      const outcome = await sendOne(url, request, redirects);
      if (outcome.kind !== "retry" || !mayRetry || ++failures > spec.retries.max) return outcome;
      await deps.clock.sleep(
        Math.max(backoffMs(spec.retries.backoffMs, failures, 0), outcome.retryAfterMs ?? 0),
        signal,
      );
      signal.throwIfAborted();
    }
  }

  async function sendAndFollow(start: string, first: TaskRequest | undefined): Promise<RequestAnswer> {
    let [url, request] = [start, first];
    for (let redirects = 0; redirects <= options.maxRedirects; redirects++) {
      const outcome = await sendAndRetry(url, request, redirects);
      switch (outcome.kind) {
        case "page":
          return answerOf(outcome.page, deps.decode(outcome.body, outcome.page.contentType));
        case "redirect":
          request = requestAfterRedirect(request, outcome.page.status, originOf(outcome.to) === originOf(url));
          url = outcome.to;
          continue;
        case "unchanged":
          throw new Error(`request: ${url} answered 304 to an unconditional request`);
        default:
          throw new Error(`request: ${url} failed: ${outcome.detail}`);
      }
    }
    throw new Error(`request: stopped after ${options.maxRedirects} redirects; the next one is to ${url}`);
  }

  return (target, request) => {
    const url = canonicalUrl(target, grant.url);
    if (url === undefined) throw new Error(`request: ${JSON.stringify(target)} is not an http(s) URL`);
    const answer = last.then(() => sendAndFollow(url, request));
    last = answer.catch(() => {}); // the handler gets the error of its own request
    return answer;
  };
}

function answerOf({ url, status, headers }: Omit<RequestAnswer, "text" | "json">, text: string): RequestAnswer {
  return { url, status, headers, text, json: () => JSON.parse(text) as unknown };
}
