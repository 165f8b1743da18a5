/** What a job has spent on proxies, for its report. */
import { plural } from "../../domain/format-number.ts";
import { readSpending, type Spent } from "../../fetch/exit/spending.ts";
import type { JobView } from "../../frontier/frontier-admin.ts";
import type { CommandSession } from "../session.ts";

/** `budget`: null if the job has none. `fallbackRequests`: the requests taken from the budget. */
type ProxyCosts = { budget: number | null; fallbackRequests: number; providers: Readonly<Record<string, Spent>> };

/** Undefined if no request of the job went through a proxy. */
export async function findProxyCosts(
  { trawl }: CommandSession,
  { id, spec }: JobView,
): Promise<ProxyCosts | undefined> {
  const spending = await readSpending(trawl.frontier, id);
  if (spending === undefined) return undefined;
  const budget = spec.proxy === undefined || spec.proxy === "none" ? undefined : spec.proxy.budget;
  return { budget: budget ?? null, fallbackRequests: spending.taken, providers: spending.providers };
}

/** The rows of the report of a crawl. */
export function proxyRows(costs: ProxyCosts | undefined): string[][] {
  if (costs === undefined) return [];
  const budget = costs.budget === null ? "" : `; ${costs.fallbackRequests} of the budget of ${costs.budget} used`;
  return Object.entries(costs.providers).map(([provider, { requests, cost }], nth) => [
    nth === 0 ? "  proxies" : "",
    `${provider}: ${plural(requests, "request")}, cost ${Math.round(cost * 10_000) / 10_000}${nth === 0 ? budget : ""}`,
  ]);
}
