/** `trawl explain`: why something waits, in words, and until when. */
import type { Command } from "commander";
import type { Trawl } from "../../compose.ts";
import { canonicalUrl } from "../../domain/canonical-url.ts";
import { hasEnded } from "../../domain/job.ts";
import { stepOf } from "../../domain/step-url.ts";
import type { ExplainTarget, Explanation, JobView } from "../../frontier/frontier-admin.ts";
import { showable } from "../../runtime/showable.ts";
import type { JobSpec } from "../../submit/job-spec.ts";
import { inSession, type PlaceFlags, withPlaces } from "../session.ts";
import { urlsOfPage } from "../trace/step-urls.ts";

export function addExplain(program: Command): void {
  withPlaces(program.command("explain <what>"))
    .description("say why a URL, a site (host:port) or a job waits, and until when")
    .action((what: string, flags: PlaceFlags) =>
      inSession({ flags }, async ({ trawl, screen }) => {
        const { frontier } = trawl;
        const target = await targetOf(what, (id) => frontier.findJob(id));
        const found = await explainAll(trawl, target);
        const job = "jobId" in target ? await frontier.findJob(target.jobId) : undefined;
        const ways = job === undefined || hasEnded(job.state) ? [] : routingWords(job);
        const explanation = { ...found, reasons: [...found.reasons, ...ways] };
        const { about, reasons, until } = explanation;
        if (flags.json === true)
          screen.out(`${JSON.stringify({ ...explanation, until: until === undefined ? null : Math.ceil(until) })}\n`);
        else screen.out(`${[about, ...reasons.map((reason) => `  ${reason}`)].map(showable).join("\n")}\n`);
      }),
    );
}

type Places = Pick<Trawl, "frontier" | "store">;

/** A page with all its steps: the later ones are heard of only where there are any. */
async function explainAll({ frontier, store }: Places, target: ExplainTarget): Promise<Explanation> {
  const found = await frontier.explain(target);
  if (!("url" in target)) return found;
  const jobIds = [...new Set(found.tasks.map(({ jobId }) => jobId))];
  const told = await Promise.all(jobIds.map((jobId) => toldOf(store, jobId, target.url)));
  const [, ...urls] = urlsOfPage(target.url, told.flat());
  const steps = await Promise.all(
    urls.map(async (url) => ({ step: stepOf(url), ...(await frontier.explain({ url })) })),
  );
  const known = steps.filter(({ tasks }) => tasks.length > 0);
  return {
    ...found,
    reasons: [
      ...found.reasons,
      ...known.flatMap(({ step, reasons }) => reasons.map((reason) => `${reason} (${step})`)),
    ],
    until: known.at(-1)?.until ?? found.until,
    tasks: [...found.tasks, ...known.flatMap(({ step, tasks }) => tasks.map((task) => ({ ...task, step })))],
  };
}

/** What the store has of a page's tasks. */
async function toldOf(store: Places["store"], jobId: string, url: string) {
  return (await Promise.all([store.tracePages({ jobId, url }), store.traceTries({ jobId, url })])).flat();
}

/** Where the tasks of a job go. Its priority may have been changed since it was submitted. */
function routingWords({ queue, priority, spec }: JobView): string[] {
  const { routes = [] } = spec as Partial<JobSpec>;
  const own = `its tasks go to queue ${queue}, priority ${priority}`;
  if (routes.length === 0) return [own];
  const ways = routes.map(({ domain = [], url = [], queue: to, priority: at }) => {
    const which = [domain.join(" or "), url.join(" or ")].filter((words) => words !== "").join(" and ");
    return `  ${which}: queue ${to}, priority ${at}`;
  });
  return [`${own}, but by the first route that takes their URL:`, ...ways];
}

/** A URL has a scheme; a job is one the broker knows; anything else is a site. */
async function targetOf(what: string, findJob: (id: string) => Promise<unknown>): Promise<ExplainTarget> {
  const url = /^https?:\/\//i.test(what) ? canonicalUrl(what) : undefined;
  if (url !== undefined) return { url };
  return (await findJob(what)) === undefined ? { site: what.toLowerCase() } : { jobId: what };
}
