/** `trawl serve`: runs the API server with the dashboard. */
import { type Command, Option } from "commander";
import { type Listening, NO_DASHBOARD, runServer } from "../serve/run-server.ts";
import { runServerChild, serverFailureMessage } from "../serve/serve-child.ts";
import { type ListenFlags, listenSettings, withListenFlags } from "../serve/serve-flags.ts";
import { type ConnectionFlags, inSession, withConnectionFlags } from "../session.ts";
import type { Shutdown } from "../shutdown.ts";
import { asChild } from "../worker/as-child.ts";
import { CHILD_FLAG, RESTART_FLAG } from "../worker/run-pool.ts";

type ServeFlags = ConnectionFlags & ListenFlags & { quiet?: boolean; poolChild?: boolean; again?: boolean };

const EXAMPLES = `
Examples:
  trawl serve
  curl -s localhost:7700/v1/jobs -H 'content-type: application/json' \\
    -d '{"urls": ["https://books.toscrape.com/"], "extract": {"title": "h1"}}'
  TRAWL_BROKER=redis://127.0.0.1:6379 trawl serve --port 8080

The server accepts jobs, shows their state and starts the jobs of schedules;
workers fetch the pages (trawl worker, or trawl up). You can run several servers
on one broker and store. The dashboard is at the root URL, the API reference at
/docs, the OpenAPI document at /openapi.json.
After Ctrl-C, SIGTERM or SIGHUP, the server waits up to TRAWL_GRACE for requests
in progress and exits with 0. After a second signal, it exits at once with 130.
Exit codes: 0 stopped, 2 invalid usage or port in use, 3 broker or store
unavailable, 130 stopped by a second signal.`;

export function addServe(program: Command, shutdown: Shutdown): void {
  withListenFlags(withConnectionFlags(program.command("serve")).description("run the HTTP API and the dashboard"))
    .option("--quiet", "print errors only")
    .addOption(new Option(CHILD_FLAG).hideHelp())
    .addOption(new Option(RESTART_FLAG).hideHelp())
    .addHelpText("after", EXAMPLES)
    .action((flags: ServeFlags) =>
      flags.poolChild === true ? serveForSupervisor(flags, shutdown) : serve(flags, shutdown),
    );
}

async function serve(flags: ServeFlags, shutdown: Shutdown): Promise<void> {
  const { schedules } = flags;
  shutdown.exitZeroWhileStarting();
  await inSession({ flags, settings: listenSettings(flags) }, async (session) => {
    const { screen } = session;
    const onListening = async ({ url, hasDashboard }: Listening) => {
      if (flags.json === true) await screen.out(`${JSON.stringify({ url })}\n`);
      else if (flags.quiet !== true) {
        screen.err(`listening on ${url}\n`);
        screen.err(hasDashboard ? `dashboard: ${url}/\n` : `${NO_DASHBOARD}\n`);
        screen.err(`API reference: ${url}/docs\n`);
      }
    };
    await runServer(session, shutdown, { schedules, onListening });
    if (flags.quiet !== true && flags.json !== true) screen.err("stopped\n");
  });
}

/** Runs as the server process of `trawl up`. */
function serveForSupervisor(flags: ServeFlags, shutdown: Shutdown): Promise<void> {
  const opening = { flags, settings: listenSettings(flags), waitsForBroker: true };
  return asChild(
    shutdown,
    (link) => inSession(opening, (session) => runServerChild(session, shutdown, flags, link)),
    (error) => serverFailureMessage(error, flags.again === true),
  );
}
