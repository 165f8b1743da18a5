/** The part of the chain that asks the site: for a page or, in a recrawl, whether it has changed. */
import type { Slot } from "../domain/politeness.ts";
import { pageUrlOf } from "../domain/step-url.ts";
import { isContradicted, type Validators } from "../domain/validators.ts";
import type { Allowance, Fetcher, FetchLimits, FetchOutcome } from "../fetch/fetcher.ts";
import type { Grant } from "../frontier/frontier.ts";
import type { PageMemory, Recall } from "../store/page-memory.ts";
import type { JobPlan } from "./plan.ts";
import { hasOwnConditions, type Revisit, validatorsFor } from "./recrawl.ts";

export type FetchPageDeps = {
  fetcher: Fetcher;
  /** Shows pages in a browser, which is started when first wanted. */
  renderer: Fetcher;
  allowance: Allowance;
  /** What a recrawl set remembers of a page. */
  recall(asked: Recall): Promise<PageMemory | undefined>;
};

type Asking = {
  deps: FetchPageDeps;
  options: { limits: Omit<FetchLimits, "bodyBytes"> };
  grant: Grant;
  plan: JobPlan;
  signal: AbortSignal;
  revisit: Revisit | undefined;
};

/** In a recrawl: what is known of the page. */
export async function findRevisit({ deps, grant, plan }: Omit<Asking, "revisit">): Promise<Revisit | undefined> {
  const { recrawl } = plan.spec;
  if (recrawl === undefined) return undefined;
  return { ...recrawl, before: await deps.recall({ set: recrawl.set, url: pageUrlOf(grant.url), jobId: grant.jobId }) };
}

export async function fetchPage(asking: Asking): Promise<FetchOutcome> {
  const { deps, grant, plan } = asking;
  // The grant's slot went into robots.txt where that was asked for: the page needs one of its own.
  const isSpent = grant.mustAskRobots && plan.spec.politeness.robots;
  const slot = isSpent ? await deps.allowance.spend(grant.site) : grant.slot;
  const validators = chooseValidators(asking);
  const outcome = await ask(asking, slot, validators);
  if (outcome.kind !== "unchanged" || validators === undefined) return outcome;
  // A server that speaks of another version than the one it was asked about cannot be believed.
  if (!isContradicted(validators, outcome.page.headers)) return outcome;
  return ask(asking, await deps.allowance.spend(grant.site), undefined);
}

function chooseValidators({ grant, plan, revisit }: Asking): Validators | undefined {
  if (revisit === undefined || grant.kind !== "fetch") return undefined;
  return hasOwnConditions(plan.headersFor(pageUrlOf(grant.url))) ? undefined : validatorsFor({ grant, plan }, revisit);
}

async function ask(
  { deps, options, grant, plan, signal }: Asking,
  slot: Slot,
  validators: Validators | undefined,
): Promise<FetchOutcome> {
  const fetcher = grant.kind === "render" ? deps.renderer : deps.fetcher;
  const url = pageUrlOf(grant.url);
  return fetcher.fetch({
    url,
    site: grant.site,
    slot,
    validators,
    limits: { ...options.limits, bodyBytes: plan.spec.limits.bodyBytes },
    headers: plan.headersFor(url),
    signal,
    show: { browser: plan.spec.browser, keepsTab: plan.needsTab },
  });
}
