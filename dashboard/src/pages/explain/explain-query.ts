/** Resolves a query (a URL, a site, or the id of a job, task or request) and loads its explanation and its trace. */

import { isApiError } from "../../../../src/client/api-error.ts";
import type { ExplainTarget } from "../../../../src/client/client.ts";
import type { ExplanationOut, TraceOut } from "../../../../src/client/wire-types.ts";
import { api } from "../../session.ts";

type QueryAnswer = {
  explained: ExplanationOut | undefined;
  trace: TraceOut | undefined;
};

/** A host name: contains a dot or a port, which ids never do. */
const SITE = /^(?=.*[.:]|localhost$)[\w.-]+(?::\d+)?$/;
/** The text that the API returns instead of a secret in a URL. A URL with this text cannot be looked up. */
const MASK = "***";

/** Throws ApiError if nothing matches. */
export async function explainQuery(query: string, signal: AbortSignal): Promise<QueryAnswer> {
  const trawl = api();
  if (/^https?:\/\//i.test(query)) {
    const [explained, trace] = await Promise.all([
      trawl.explain({ url: query }, { signal }),
      trawl.trace({ url: query }, { signal }).catch(undefinedIfNotFound),
    ]);
    return { explained, trace };
  }
  if (SITE.test(query)) {
    const trace = await trawl.trace({ what: query }, { signal }).catch(undefinedIfNotFound);
    if (trace === undefined) return { explained: await trawl.explain({ site: query }, { signal }), trace };
    return { explained: await explainTraced(query, trace, signal), trace };
  }
  const trace = await trawl.trace({ what: query }, { signal });
  return { explained: await explainTraced(query, trace, signal), trace };
}

async function explainTraced(query: string, trace: TraceOut, signal: AbortSignal): Promise<ExplanationOut | undefined> {
  const target = targetOf(query, trace);
  return target === undefined ? undefined : api().explain(target, { signal });
}

/**
 * The target to explain: the job, or the page or job that a task or request belongs to. Undefined if there are several.
 */
function targetOf(query: string, { jobs, timelines }: TraceOut): ExplainTarget | undefined {
  const [traced, another] = jobs;
  if (traced !== undefined) return another === undefined ? { job: traced.job.id } : undefined;
  const [timeline] = timelines;
  if (timeline === undefined) return undefined;
  if (timeline.job === query) return { job: query };
  return timeline.url.includes(MASK) ? undefined : { url: timeline.url };
}

function undefinedIfNotFound(error: unknown): undefined {
  if (isApiError(error, "NOT_FOUND")) return undefined;
  throw error;
}
