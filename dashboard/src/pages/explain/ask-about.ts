/** Asks the server about a word: why what it names waits, and how it went. What it names is found out on the way. */
import type { ExplanationOut } from "../../../../src/api/wire-fleet.ts";
import type { TraceOut } from "../../../../src/api/wire-trace.ts";
import { isApiError } from "../../../../src/client/api-error.ts";
import type { ExplainTarget } from "../../../../src/client/client.ts";
import { api } from "../../session.ts";

export type About = {
  explained: ExplanationOut | undefined;
  trace: TraceOut | undefined;
};

/** A host, with a port or a dot in its name: ids have neither. */
const SITE = /^(?=.*[.:]|localhost$)[\w.-]+(?::\d+)?$/;
/** What stands in the place of a secret: such a URL cannot be asked for. */
const MASK = "***";

/** Throws ApiError where nothing at all is known of it. */
export async function askAbout(word: string, signal: AbortSignal): Promise<About> {
  const trawl = api();
  if (/^https?:\/\//i.test(word)) {
    const [explained, trace] = await Promise.all([
      trawl.explain({ url: word }, { signal }),
      trawl.trace({ url: word }, { signal }).catch(noneWhereMissing),
    ]);
    return { explained, trace };
  }
  if (SITE.test(word)) {
    const trace = await trawl.trace({ what: word }, { signal }).catch(noneWhereMissing);
    if (trace === undefined) return { explained: await trawl.explain({ site: word }, { signal }), trace };
    return { explained: await explainTraced(word, trace, signal), trace };
  }
  const trace = await trawl.trace({ what: word }, { signal });
  return { explained: await explainTraced(word, trace, signal), trace };
}

async function explainTraced(word: string, trace: TraceOut, signal: AbortSignal): Promise<ExplanationOut | undefined> {
  const target = targetOf(word, trace);
  return target === undefined ? undefined : api().explain(target, { signal });
}

/** A job explains itself; a task or a request is explained by the page or the job that it led to, if that is one. */
function targetOf(word: string, { jobs, stories }: TraceOut): ExplainTarget | undefined {
  const [traced, another] = jobs;
  if (traced !== undefined) return another === undefined ? { job: traced.job.id } : undefined;
  const [story] = stories;
  if (story === undefined) return undefined;
  if (story.job === word) return { job: word };
  return story.url.includes(MASK) ? undefined : { url: story.url };
}

function noneWhereMissing(error: unknown): undefined {
  if (isApiError(error, "NOT_FOUND")) return undefined;
  throw error;
}
