/** `trawl worker`: fetch what is submitted, until stopped. */
import type { Command } from "commander";
import { queueNames, wholeNumber } from "../flags.ts";
import { inSession, type PlaceFlags, withPlaces } from "../session.ts";
import type { Stops } from "../stops.ts";
import { runWorker } from "../worker/run-worker.ts";
import { createVoice } from "../worker/voice.ts";

type Flags = PlaceFlags & {
  queues: string[];
  concurrency?: number;
  userAgent?: string;
  drain?: boolean;
  quiet?: boolean;
};

const EXAMPLES = `
Examples:
  trawl worker
  trawl worker --queues high_priority,fetch -c 64
  TRAWL_BROKER=redis://127.0.0.1:6379 trawl worker
  trawl worker --drain          work off what is there, then end

Any number of workers may share a broker: start one per core. Ctrl-C or SIGTERM
lets running tasks finish, hands the rest back and ends with 0; a second one
ends at once with 130.
Exit codes: 0 stopped or drained, 2 usage, 3 broker or store lost.`;

export function addWorker(program: Command, stops: Stops): void {
  withPlaces(program.command("worker"))
    .description("fetch what is submitted to some queues, until stopped")
    .option("--queues <names>", "which queues to serve, with commas between", queueNames("--queues"), ["fetch"])
    .option("-c, --concurrency <n>", "tasks under way at once (default 32)", wholeNumber("--concurrency", 1))
    .option("--user-agent <text>", "how to introduce ourselves; name a way to reach you")
    .option("--drain", "end when nothing waits on the queues and nothing is under way")
    .option("--quiet", "say nothing but errors")
    .addHelpText("after", EXAMPLES)
    .action((flags: Flags) => work(flags, stops));
}

async function work(flags: Flags, stops: Stops): Promise<void> {
  const settings = { concurrency: flags.concurrency, userAgent: flags.userAgent };
  await inSession({ flags, settings, isPatient: true }, async (session) => {
    const { screen, config } = session;
    const voice = createVoice(flags.quiet === true ? muted(screen) : screen, config, flags.json === true);
    const run = { queues: flags.queues, drain: flags.drain === true, quiet: flags.quiet === true };
    const end = await runWorker(session, stops, run, voice);
    voice.stopped(end);
    if (flags.json === true)
      await screen.out(`${JSON.stringify({ ...end, seconds: Number(end.seconds.toFixed(3)) })}\n`);
  });
}

function muted<S extends { err(text: string): void }>(screen: S): S {
  return { ...screen, err: () => {} };
}
