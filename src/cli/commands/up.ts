/** `trawl up`: the control plane and all kinds of workers on this machine, under one supervisor. */
import type { Command } from "commander";
import type { Config } from "../../config/schema.ts";
import { isTrawlError } from "../../errors.ts";
import { getChromium } from "../../fetch/browser/find-chromium.ts";
import { wholeNumber } from "../flags.ts";
import type { Listening } from "../serve/run-server.ts";
import { listenSettings, withListenFlags } from "../serve/serve-flags.ts";
import { inSession, withPlaces } from "../session.ts";
import type { Stops } from "../stops.ts";
import { groupsOf, MOST_PROCESSES, queueCount, serverGroup, type UpFlags, type UpGroup } from "../up/groups.ts";
import { createUpVoice, groupFields } from "../up/up-voice.ts";
import { createPoolVoice } from "../worker/pool-voice.ts";
import { settingsOf, withProcessFlags } from "../worker/process-flags.ts";
import { runPool } from "../worker/run-pool.ts";
import { createVoice } from "../worker/voice.ts";

const EXAMPLES = `
Examples:
  trawl up                               the dashboard, and one process of each kind
  trawl up --fetch 4 --render 0          four that fetch, none with a browser
  trawl up --fetch 2 --queue high_priority=1 --time-limit 120
  TRAWL_BROKER=redis://127.0.0.1:6379 trawl up --fetch 8 --no-serve

Starts all that Trawl is on this machine: the control plane with its dashboard,
as trawl serve does, and what works off submitted jobs: processes that fetch
pages, render them in a browser, or only parse them, each on the queue of that
name. Those that fetch deliver the events of webhooks as well. Start it on as
many machines as you like; a second one on a machine takes --no-serve, or a
--port of its own. It does no work itself: a process that crashes, hangs or has
done its share is replaced, after a while if it dies again and again. Every
line says whose it is. For one kind alone, and for --drain, there is trawl
worker. Ctrl-C or SIGTERM lets running tasks finish, hands the rest back and
ends with 0; a second one ends at once with 130.
Exit codes: 0 stopped, 2 usage, or the port is taken, 3 broker or store lost.`;

export function addUp(program: Command, stops: Stops): void {
  const count = (flag: string) => wholeNumber(flag, 0, MOST_PROCESSES);
  const command = withProcessFlags(
    withPlaces(program.command("up"))
      .description("start the dashboard and workers of every kind on this machine, and keep them running")
      .option("--fetch <n>", "processes that fetch pages", count("--fetch"), 1)
      .option("--render <n>", "processes that render pages in a browser", count("--render"), 1)
      .option("--parse <n>", "processes that parse what others fetched", count("--parse"), 1)
      .option("--queue <name=n>", "processes for a queue of your own; repeatable", queueCount, []),
  );
  withListenFlags(command)
    .option("--no-serve", "workers alone, without dashboard and API")
    .option("--quiet", "say nothing but errors")
    .addHelpText("after", EXAMPLES)
    .action((flags: UpFlags, command: Command) => {
      const isRenderAsked = command.getOptionValueSource("render") === "cli";
      return up(flags, stops, isRenderAsked);
    });
}

async function up(flags: UpFlags, stops: Stops, isRenderAsked: boolean): Promise<void> {
  stops.mayEndEarly();
  const asked = groupsOf(flags);
  const settings = { ...settingsOf(flags), ...listenSettings(flags) };
  await inSession({ flags, settings, isPatient: true }, async (session) => {
    const { config } = session;
    const [isJson, quiet] = [flags.json === true, flags.quiet === true];
    const screen = quiet ? { ...session.screen, err: () => {} } : session.screen;
    const voice = createVoice(screen, config, isJson);
    const own = createUpVoice(session.screen, config, isJson);
    const pool = createPoolVoice(session.screen, { isJson, quiet, maxMemoryMb: config.maxMemoryPerChildMb });
    const groups = withBrowser(asked, config, isRenderAsked, (words) => screen.err(words));
    const server = serverGroup(flags);
    if (!quiet && server.length === 0) own.started(groups, undefined);
    const listening = quiet ? () => {} : onceThenAgain((at: Listening) => own.started(groups, at), own.back);
    const run = { groups: [...server, ...groups], quiet };
    const end = await runPool(session, stops, run, { voice, pool, line: own.line, listening });
    voice.stopped(end);
    if (!isJson) return;
    const seconds = Number(end.seconds.toFixed(3));
    await screen.out(`${JSON.stringify({ groups: groups.map(groupFields), ...end, seconds })}\n`);
  });
}

/** Calls `first` with the first word, and `again` with those that follow. */
function onceThenAgain<T>(first: (told: T) => void, again: (told: T) => void): (told: T) => void {
  let isTold = false;
  return (told) => {
    (isTold ? again : first)(told);
    isTold = true;
  };
}

/** Machines without a browser do everything else, unless somebody asked for it. */
function withBrowser(
  groups: readonly UpGroup[],
  { chromium }: Config,
  isAsked: boolean,
  say: (words: string) => void,
): UpGroup[] {
  if (!groups.some(({ name }) => name === "render")) return [...groups];
  try {
    getChromium(chromium);
    return [...groups];
  } catch (error) {
    const others = groups.filter(({ name }) => name !== "render");
    if (isAsked || others.length === 0 || !isTrawlError(error, "BROWSER_UNAVAILABLE")) throw error;
    say(`note: nothing here renders pages: ${error.message}\n`);
    return others;
  }
}
