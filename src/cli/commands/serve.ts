/** `trawl serve`: the control plane over HTTP. */
import type { Command } from "commander";
import { wholeNumber } from "../flags.ts";
import { inSession, type PlaceFlags, withPlaces } from "../session.ts";
import type { Stops } from "../stops.ts";

type ServeFlags = PlaceFlags & { host?: string; port?: number; quiet?: boolean; schedules: boolean };

const EXAMPLES = `
Examples:
  trawl serve
  curl -s localhost:7700/v1/jobs -H 'content-type: application/json' \\
    -d '{"urls": ["https://books.toscrape.com/"], "extract": {"title": "h1"}}'
  TRAWL_BROKER=redis://127.0.0.1:6379 trawl serve --port 8080

It takes jobs and answers questions; workers do the work: trawl worker, or
trawl up. Start as many as you like on one broker and store. What it takes is
described at /docs, and for programs at /openapi.json.
Ctrl-C or SIGTERM lets requests under way finish.
Exit codes: 0 stopped, 2 usage or settings, 3 broker or store lost.`;

export function addServe(program: Command, stops: Stops): void {
  withPlaces(program.command("serve"))
    .description("take jobs and answer questions over HTTP")
    .option("--host <address>", "where to listen (default 127.0.0.1)")
    .option("--port <n>", "the port; 0 takes any that is free (default 7700)", wholeNumber("--port", 0, 65_535))
    .option("--no-schedules", "leave schedules to others: by default every server fires what is due")
    .option("--quiet", "say nothing but errors")
    .addHelpText("after", EXAMPLES)
    .action((flags: ServeFlags) => serve(flags, stops));
}

async function serve(flags: ServeFlags, stops: Stops): Promise<void> {
  const settings = { apiHost: flags.host, apiPort: flags.port };
  await inSession({ flags, settings }, async ({ config, trawl, screen }) => {
    // Loaded on first use: no other command needs a server.
    const [{ composeApi }, { composeSchedules }, { composeRetention }] = await Promise.all([
      import("../../compose-api.ts"),
      import("../../compose-schedules.ts"),
      import("../../compose-retention.ts"),
    ]);
    const retention = composeRetention(config, trawl);
    const server = await composeApi(config, trawl, retention);
    const { url } = await server.start();
    const scheduler = composeSchedules(config, trawl).createScheduler();
    if (flags.schedules) scheduler.start();
    retention.start();
    const asked = new Promise<void>((resolve) => {
      stops.once(resolve);
    });
    if (flags.json === true) await screen.out(`${JSON.stringify({ url })}\n`);
    else if (flags.quiet !== true) screen.err(`listening on ${url}; the API is described at ${url}/docs\n`);
    await asked;
    await Promise.all([server.stop(), scheduler.stop(), retention.stop()]);
    if (flags.quiet !== true && flags.json !== true) screen.err("stopped\n");
  });
}
