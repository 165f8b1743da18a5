/** `trawl explain`: shows why a URL, a site or a job is waiting, and until when. */
import type { Command } from "commander";
import { canonicalUrl } from "../../domain/canonical-url.ts";
import type { ExplainTarget } from "../../frontier/frontier-admin.ts";
import { showable } from "../../runtime/showable.ts";
import { type PlaneFlags, runOnPlane, withPlaneFlags } from "../plane/run-on-plane.ts";
import { withCommand } from "../terminal.ts";

export function addExplain(program: Command): void {
  withPlaneFlags(program.command("explain <what>"))
    .description("show why a URL, a site (host, or host:port) or a job is waiting, and until when")
    .action((what: string, flags: PlaneFlags) =>
      runOnPlane({ flags }, async ({ plane, screen }) => {
        const explained = await plane.explain(await targetOf(what, plane.findJob));
        const { about, reasons, until = null, tasks } = explained;
        if (flags.json === true) return screen.out(`${JSON.stringify({ about, reasons, until, tasks })}\n`);
        const lines = reasons.map((reason) => `  ${withCommand(reason, screen)}`);
        return screen.out(`${[about, ...lines].map(showable).join("\n")}\n`);
      }),
    );
}

/** Text with a scheme is a URL, an id that the broker knows is a job, anything else is a site. */
async function targetOf(what: string, findJob: (id: string) => Promise<unknown>): Promise<ExplainTarget> {
  const url = /^https?:\/\//i.test(what) ? canonicalUrl(what) : undefined;
  if (url !== undefined) return { url };
  return (await findJob(what)) === undefined ? { site: what.toLowerCase() } : { jobId: what };
}
