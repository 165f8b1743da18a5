/** `trawl up`: all kinds of workers on this machine, under one supervisor. */
import type { Command } from "commander";
import type { Config } from "../../config/schema.ts";
import { isTrawlError } from "../../errors.ts";
import { getChromium } from "../../fetch/browser/find-chromium.ts";
import { wholeNumber } from "../flags.ts";
import { inSession, withPlaces } from "../session.ts";
import type { Stops } from "../stops.ts";
import { groupsOf, MOST_PROCESSES, queueCount, type UpFlags, type UpGroup } from "../up/groups.ts";
import { createUpVoice, groupFields } from "../up/up-voice.ts";
import { createPoolVoice } from "../worker/pool-voice.ts";
import { settingsOf, withProcessFlags } from "../worker/process-flags.ts";
import { runPool } from "../worker/run-pool.ts";
import { createVoice } from "../worker/voice.ts";

const EXAMPLES = `
Examples:
  trawl up                               one process of each kind
  trawl up --fetch 4 --render 0          four that fetch, none with a browser
  trawl up --fetch 2 --queue high_priority=1 --time-limit 120
  TRAWL_BROKER=redis://127.0.0.1:6379 trawl up --fetch 8

Starts what works off submitted jobs on this machine: processes that fetch
pages, render them in a browser, or only parse them, each on the queue of that
name. Those that fetch deliver the events of webhooks as well. Start it on as
many machines as you like. It does no work itself: a process that crashes,
hangs or has done its share is replaced, after a while if it dies again and
again. Every line says whose it is. For one kind alone, and for --drain, there
is trawl worker. Ctrl-C or SIGTERM lets running tasks finish, hands the rest
back and ends with 0; a second one ends at once with 130.
Exit codes: 0 stopped, 2 usage, 3 broker or store lost.`;

export function addUp(program: Command, stops: Stops): void {
  const count = (flag: string) => wholeNumber(flag, 0, MOST_PROCESSES);
  withProcessFlags(
    withPlaces(program.command("up"))
      .description("start workers of every kind on this machine, and keep them running")
      .option("--fetch <n>", "processes that fetch pages", count("--fetch"), 1)
      .option("--render <n>", "processes that render pages in a browser", count("--render"), 1)
      .option("--parse <n>", "processes that parse what others fetched", count("--parse"), 1)
      .option("--queue <name=n>", "processes for a queue of your own; repeatable", queueCount, []),
  )
    .option("--quiet", "say nothing but errors")
    .addHelpText("after", EXAMPLES)
    .action((flags: UpFlags, command: Command) => {
      const isRenderAsked = command.getOptionValueSource("render") === "cli";
      return up(flags, stops, isRenderAsked);
    });
}

async function up(flags: UpFlags, stops: Stops, isRenderAsked: boolean): Promise<void> {
  const asked = groupsOf(flags);
  await inSession({ flags, settings: settingsOf(flags), isPatient: true }, async (session) => {
    const { config } = session;
    const [isJson, quiet] = [flags.json === true, flags.quiet === true];
    const screen = quiet ? { ...session.screen, err: () => {} } : session.screen;
    const voice = createVoice(screen, config, isJson);
    const own = createUpVoice(session.screen, config, isJson);
    const pool = createPoolVoice(session.screen, { isJson, quiet, maxMemoryMb: config.maxMemoryPerChildMb });
    const groups = withBrowser(asked, config, isRenderAsked, (words) => screen.err(words));
    if (!quiet) own.started(groups);
    const end = await runPool(session, stops, { groups, quiet }, { voice, pool, line: own.line });
    voice.stopped(end);
    if (!isJson) return;
    const seconds = Number(end.seconds.toFixed(3));
    await screen.out(`${JSON.stringify({ groups: groups.map(groupFields), ...end, seconds })}\n`);
  });
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
