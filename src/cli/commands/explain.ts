/** `trawl explain`: why something waits, in words, and until when. */
import type { Command } from "commander";
import { explainTarget } from "../../api/explain-target.ts";
import { canonicalUrl } from "../../domain/canonical-url.ts";
import type { ExplainTarget } from "../../frontier/frontier-admin.ts";
import { showable } from "../../runtime/showable.ts";
import { inSession, type PlaceFlags, withPlaces } from "../session.ts";

export function addExplain(program: Command): void {
  withPlaces(program.command("explain <what>"))
    .description("say why a URL, a site (host:port) or a job waits, and until when")
    .action((what: string, flags: PlaceFlags) =>
      inSession({ flags }, async ({ trawl, screen }) => {
        const target = await targetOf(what, (id) => trawl.catalogue.find(id));
        const explained = await explainTarget(trawl, target, undefined);
        const { about, reasons, until = null } = explained;
        if (flags.json === true) return screen.out(`${JSON.stringify({ ...explained, until })}\n`);
        return screen.out(`${[about, ...reasons.map((reason) => `  ${reason}`)].map(showable).join("\n")}\n`);
      }),
    );
}

/** A URL has a scheme; a job is one the broker knows; anything else is a site. */
async function targetOf(what: string, findJob: (id: string) => Promise<unknown>): Promise<ExplainTarget> {
  const url = /^https?:\/\//i.test(what) ? canonicalUrl(what) : undefined;
  if (url !== undefined) return { url };
  return (await findJob(what)) === undefined ? { site: what.toLowerCase() } : { jobId: what };
}
