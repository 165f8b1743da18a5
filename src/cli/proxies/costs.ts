/** What a job has spent on proxies, for its report. */
import { type ProxyCostsOut, proxyCostsOut } from "../../control/views/proxy-costs.ts";
import type { Spent } from "../../domain/exit.ts";
import { formatBytes, plural } from "../../domain/format-number.ts";
import { readSpending } from "../../fetch/exit/spending.ts";
import type { JobView } from "../../frontier/frontier-admin.ts";
import { showable } from "../../runtime/showable.ts";
import type { CommandSession } from "../session.ts";

/** null if no request of the job went through a proxy. */
export async function findProxyCosts({ trawl }: CommandSession, { id, spec }: JobView): Promise<ProxyCostsOut | null> {
  return proxyCostsOut(await readSpending(trawl.frontier, id), spec);
}

/** One row per provider, and one for all if there are several. `label`: the first cell of the first row. */
export function proxyRows(costs: ProxyCostsOut | null, label: string): string[][] {
  if (costs === null) return [];
  const budget = costs.budget === null ? "" : `; ${costs.fallbackRequests} of the budget of ${costs.budget} used`;
  const providers = Object.entries(costs.providers).map(([name, spent]) => `${showable(name)}: ${spentText(spent)}`);
  const texts = providers.length > 1 ? [`all: ${spentText(costs)}`, ...providers] : providers;
  return texts.map((text, nth) => (nth === 0 ? [label, text + budget] : ["", text]));
}

function spentText({ requests, bytes, cost }: Spent): string {
  return `${plural(requests, "request")}, ${formatBytes(bytes)}, cost ${Math.round(cost * 10_000) / 10_000}`;
}
