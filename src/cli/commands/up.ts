/** `trawl up`: runs the API server and workers for all queues on this machine, under one supervisor. */
import { type Command, Option } from "commander";
import type { Config } from "../../config/schema.ts";
import { isTrawlError } from "../../errors.ts";
import { getChromium } from "../../fetch/browser/find-chromium.ts";
import { wholeNumber } from "../flags.ts";
import type { Listening } from "../serve/run-server.ts";
import { listenSettings, withListenFlags } from "../serve/serve-flags.ts";
import { inSession, withConnectionFlags } from "../session.ts";
import type { Shutdown } from "../shutdown.ts";
import { groupsOf, MAX_PROCESSES, queueCount, serverGroup, type UpFlags, type UpGroup } from "../up/groups.ts";
import { createUpOutput, groupFields } from "../up/up-output.ts";
import { createPoolOutput } from "../worker/pool-output.ts";
import { processSettings, withProcessFlags } from "../worker/process-flags.ts";
import { runPool } from "../worker/run-pool.ts";
import { createWorkerOutput } from "../worker/worker-output.ts";

const EXAMPLES = `
Examples:
  trawl up                               dashboard and one process of each kind
  trawl up --fetch 4 --render 0          four fetch processes, no browser
  trawl up --fetch 2 --queue high_priority=1 --time-limit 120
  TRAWL_BROKER=redis://127.0.0.1:6379 trawl up --fetch 8 --no-serve

Starts the API server with the dashboard, like trawl serve, and worker processes
for the queues fetch, render and parse. The fetch processes also deliver webhook
events; with --fetch 0, processes of another queue deliver them. You can run
trawl up on any number of machines. A second trawl up on the same machine needs
--no-serve or another --port.
The supervisor replaces a process that crashes, hangs or reaches a limit. If a
process keeps crashing, the supervisor waits longer before each replacement.
Each output line names its process.
For a single kind of worker, or for --drain, use trawl worker.
After Ctrl-C, SIGTERM or SIGHUP, trawl up waits up to TRAWL_GRACE for running
tasks, returns unfinished tasks to the queue and exits with 0. After a second
signal, it exits at once with 130.
Exit codes: 0 stopped, 2 invalid usage or port in use, 3 broker, store or
browser unavailable, 130 stopped by a second signal.`;

export function addUp(program: Command, shutdown: Shutdown): void {
  const count = (flag: string) => wholeNumber(flag, 0, MAX_PROCESSES);
  const command = withProcessFlags(
    withConnectionFlags(program.command("up"))
      .description("run the API server with the dashboard, and workers that fetch, render and parse pages")
      .option("--fetch <n>", "number of fetch processes", count("--fetch"), 1)
      .addOption(
        new Option("--render <n>", "number of browser processes")
          .argParser(count("--render"))
          .default(1, "1, or 0 without Chromium"),
      )
      .option("--parse <n>", "number of parse processes", count("--parse"), 1)
      .option("--queue <name=n>", "number of processes for another queue; without =n: 1 (repeatable)", queueCount, []),
  );
  withListenFlags(command)
    .option("--no-serve", "start only workers, no API server and no dashboard")
    .option("--quiet", "print errors only")
    .addHelpText("after", EXAMPLES)
    .action((flags: UpFlags, command: Command) => {
      const isRenderRequested = command.getOptionValueSource("render") === "cli";
      return up(flags, shutdown, isRenderRequested);
    });
}

async function up(flags: UpFlags, shutdown: Shutdown, isRenderRequested: boolean): Promise<void> {
  shutdown.exitZeroWhileStarting();
  const requested = groupsOf(flags);
  const settings = { ...processSettings(flags), ...listenSettings(flags) };
  await inSession({ flags, settings, waitsForBroker: true }, async (session) => {
    const { config } = session;
    const [isJson, quiet] = [flags.json === true, flags.quiet === true];
    const screen = quiet ? { ...session.screen, err: () => {} } : session.screen;
    const output = createWorkerOutput(screen, config, isJson);
    const own = createUpOutput(session.screen, config, isJson);
    const pool = createPoolOutput(session.screen, { isJson, quiet, maxMemoryMb: config.maxMemoryPerChildMb });
    const groups = withBrowser(requested, config, isRenderRequested, (message) => screen.err(message));
    const server = serverGroup(flags);
    if (!quiet && server.length === 0) own.started(groups, undefined);
    const listening = quiet ? () => {} : onceThenAgain((at: Listening) => own.started(groups, at), own.back);
    const run = { groups: [...server, ...groups], quiet };
    const end = await runPool(session, shutdown, run, { output, pool, line: own.line, listening });
    output.stopped(end);
    if (!isJson) return;
    const seconds = Number(end.seconds.toFixed(3));
    await screen.out(`${JSON.stringify({ groups: groups.map(groupFields), ...end, seconds })}\n`);
  });
}

/** A function that calls `first` the first time and `again` every time after that. */
function onceThenAgain<T>(first: (event: T) => void, again: (event: T) => void): (event: T) => void {
  let wasCalled = false;
  return (event) => {
    (wasCalled ? again : first)(event);
    wasCalled = true;
  };
}

/** On a machine without a browser the render group is left out, unless the user requested it with --render. */
function withBrowser(
  groups: readonly UpGroup[],
  { chromium }: Config,
  isRequested: boolean,
  note: (message: string) => void,
): UpGroup[] {
  if (!groups.some(({ name }) => name === "render")) return [...groups];
  try {
    getChromium(chromium);
    return [...groups];
  } catch (error) {
    const others = groups.filter(({ name }) => name !== "render");
    if (isRequested || others.length === 0 || !isTrawlError(error, "BROWSER_UNAVAILABLE")) throw error;
    note(`note: no render process was started: ${error.message}\n`);
    return others;
  }
}
