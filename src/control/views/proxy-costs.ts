/** What a job has spent on proxies, as the API returns it and as `--json` prints it. */
import type { JobSpending, Spent } from "../../domain/exit.ts";
import type { JobSpec } from "../../domain/job-spec.ts";

/** `budget`: null if the job has none. `fallbackRequests`: the requests taken from the budget. */
export type ProxyCostsOut = Spent & {
  budget: number | null;
  fallbackRequests: number;
  providers: Record<string, Spent>;
};

/** null if no request of the job went through a proxy. */
export function proxyCostsOut(
  spending: JobSpending | undefined,
  { proxy }: Pick<JobSpec, "proxy">,
): ProxyCostsOut | null {
  if (spending === undefined) return null;
  const budget = proxy === undefined || proxy === "none" ? undefined : proxy.budget;
  const providers = Object.entries(spending.providers).map(([name, spent]) => [name, rounded(spent)] as const);
  const all: Spent = { requests: 0, bytes: 0, cost: 0 };
  for (const { requests, bytes, cost } of Object.values(spending.providers)) {
    all.requests += requests;
    all.bytes += bytes;
    all.cost += cost;
  }
  return {
    budget: budget ?? null,
    fallbackRequests: spending.taken,
    ...rounded(all),
    providers: Object.fromEntries(providers),
  };
}

/** Sums of prices have rounding errors. */
function rounded({ requests, bytes, cost }: Spent): Spent {
  return { requests, bytes, cost: Math.round(cost * 1e6) / 1e6 };
}
