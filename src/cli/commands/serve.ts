/** `trawl serve`: the control plane over HTTP. */
import { type Command, Option } from "commander";
import { type Listening, NO_DASHBOARD, runServer } from "../serve/run-server.ts";
import { runServerChild, serverLastWords } from "../serve/serve-child.ts";
import { type ListenFlags, listenSettings, withListenFlags } from "../serve/serve-flags.ts";
import { inSession, type PlaceFlags, withPlaces } from "../session.ts";
import type { Stops } from "../stops.ts";
import { asChild } from "../worker/as-child.ts";
import { AGAIN_FLAG, CHILD_FLAG } from "../worker/run-pool.ts";

type ServeFlags = PlaceFlags & ListenFlags & { quiet?: boolean; poolChild?: boolean; again?: boolean };

const EXAMPLES = `
Examples:
  trawl serve
  curl -s localhost:7700/v1/jobs -H 'content-type: application/json' \\
    -d '{"urls": ["https://books.toscrape.com/"], "extract": {"title": "h1"}}'
  TRAWL_BROKER=redis://127.0.0.1:6379 trawl serve --port 8080

It takes jobs and answers questions; workers do the work: trawl worker, or
trawl up. Start as many as you like on one broker and store. The dashboard is at
the address itself; what the API takes is described at /docs, and for programs
at /openapi.json.
Ctrl-C or SIGTERM lets requests under way finish.
Exit codes: 0 stopped, 2 usage or settings, 3 broker or store lost.`;

export function addServe(program: Command, stops: Stops): void {
  withListenFlags(withPlaces(program.command("serve")).description("take jobs and answer questions over HTTP"))
    .option("--quiet", "say nothing but errors")
    .addOption(new Option(CHILD_FLAG).hideHelp())
    .addOption(new Option(AGAIN_FLAG).hideHelp())
    .addHelpText("after", EXAMPLES)
    .action((flags: ServeFlags) => (flags.poolChild === true ? serveForSupervisor(flags, stops) : serve(flags, stops)));
}

async function serve(flags: ServeFlags, stops: Stops): Promise<void> {
  const { schedules } = flags;
  await inSession({ flags, settings: listenSettings(flags) }, async (session) => {
    const { screen } = session;
    const onListening = async ({ url, hasDashboard }: Listening) => {
      if (flags.json === true) await screen.out(`${JSON.stringify({ url })}\n`);
      else if (flags.quiet !== true) {
        const there = hasDashboard ? "the dashboard is there, for a browser" : NO_DASHBOARD;
        screen.err(`listening on ${url}; ${there}\n`);
        screen.err(`the API is described at ${url}/docs\n`);
      }
    };
    await runServer(session, stops, { schedules, onListening });
    if (flags.quiet !== true && flags.json !== true) screen.err("stopped\n");
  });
}

/** As the server of `trawl up`. */
function serveForSupervisor(flags: ServeFlags, stops: Stops): Promise<void> {
  const opening = { flags, settings: listenSettings(flags), isPatient: true };
  return asChild(
    stops,
    (link) => inSession(opening, (session) => runServerChild(session, stops, flags, link)),
    (error) => serverLastWords(error, flags.again === true),
  );
}
