/** A worker that sends its requests when its terms allow, without a network. */
import { arrivalAfter, type ReturnedTerm, readyAt, type Term } from "../../src/domain/politeness.ts";
import type { Grant, LeaseAnswer } from "../../src/frontier/frontier.ts";
import type { Clock } from "../../src/runtime/clock.ts";
import type { AnyFrontier } from "../contracts/frontier/backend.ts";
import { aRequest, settlementOf } from "../contracts/frontier/makers.ts";

type PacedWorker = {
  worker: string;
  clock: Clock;
  /** The most tasks per lease call. */
  max: number;
  /** How long a request takes. */
  requestMs: number;
  /** A request leaves, at this time of the worker's clock. A later reading of the clock would be less exact. */
  onSend(grant: Grant, at: number): void;
  /** A request has ended, and its task will be settled. */
  onEnd?(grant: Grant): void;
};

/**
 * Leases once, sends the requests, settles their tasks and returns the terms. Tasks that do not fit into their term are
 * released.
 */
export async function workOnce(frontier: AnyFrontier, options: PacedWorker): Promise<LeaseAnswer> {
  const { worker, max } = options;
  const answer = await frontier.lease(aRequest({ worker, max }));
  const grantsAt = (site: string) => answer.grants.filter((grant) => grant.site === site);
  await Promise.all(answer.terms.map((term) => useTerm(frontier, term, grantsAt(term.site), options)));
  const unpaced = answer.grants.filter(({ site }) => !answer.terms.some((term) => term.site === site));
  await Promise.all(unpaced.map((grant) => send(frontier, grant, options, options.clock.now())));
  return answer;
}

async function useTerm(
  frontier: AnyFrontier,
  term: Term,
  grants: readonly Grant[],
  options: PacedWorker,
): Promise<void> {
  const { clock } = options;
  const running = new Set<Promise<void>>();
  let { arrivalAt } = term;
  let sent = 0;
  for (const grant of grants) {
    while (running.size >= term.concurrent) await Promise.race(running);
    await sleepUntil(Math.max(term.startsAt, readyAt(arrivalAt, term)), clock);
    const now = clock.now();
    if (now > term.endsAt) break;
    arrivalAt = arrivalAfter(now, arrivalAt, term);
    sent += 1;
    const request = send(frontier, grant, options, now).finally(() => running.delete(request));
    running.add(request);
  }
  const returned: ReturnedTerm = { ...term, arrivalAt, unstarted: 0, slowdownCause: undefined };
  await frontier.returnTerms([returned]);
  await Promise.all([frontier.release(grants.slice(sent)), ...running]);
}

async function send(frontier: AnyFrontier, grant: Grant, { clock, requestMs, onSend, onEnd }: PacedWorker, at: number) {
  onSend(grant, at);
  await clock.sleep(requestMs);
  onEnd?.(grant);
  await frontier.settle([settlementOf(grant)]);
}

/** A timer may fire up to a millisecond too early. */
async function sleepUntil(at: number, clock: Clock): Promise<void> {
  while (clock.now() < at) await clock.sleep(at - clock.now());
}
