/** `trawl top`: a live view of jobs, queues, sites and workers. */
import { type Command, InvalidArgumentError, Option } from "commander";
import pc from "picocolors";
import { maskedUrl } from "../../config/connection-url.ts";
import { parseDurationMs } from "../../domain/duration.ts";
import { secondsOrDuration } from "../flags.ts";
import { type PlaneFlags, type PlaneSession, runOnPlane, withPlaneFlags } from "../plane/run-on-plane.ts";
import type { Shutdown } from "../shutdown.ts";
import { paintLine } from "../top/canvas.ts";
import { createSnapshotReader, type FleetSnapshot, type TopJob } from "../top/fleet-snapshot.ts";
import { plainLines } from "../top/frame.ts";
import { runTop, type TopTerminal } from "../top/run-top.ts";
import { FIRST_VIEW } from "../top/view.ts";
import { workersJson } from "../workers/show-workers.ts";

type TopFlags = PlaneFlags & { once?: boolean; interval: number };

const EXAMPLES = `
Examples:
  trawl top
  trawl top --api https://trawl.example     needs an admin key in TRAWL_API_KEY
  trawl top --once                          print one snapshot as text
  trawl top --once --json                   print one snapshot as JSON

Shows jobs with their progress, queues, sites and workers. The screen is updated
every second (--interval). Small charts show the last minutes.
Keys: Tab next panel, ↑ ↓ select, p pause or resume a job, / filter, s sort,
? help, q quit. Without a terminal, for example in a pipe, the command prints
one snapshot.
Exit codes: 0 quit, 2 invalid usage, 3 broker, store or server unavailable at
the start.`;

const MIN_MS = 200;
const MAX_MS = 3_600_000;
/** The maximum number of rows per panel if the output is not a screen. */
const MAX_ROWS = 20;
const PIPE_COLUMNS = 80;

export function addTop(program: Command, shutdown: Shutdown): void {
  withPlaneFlags(program.command("top"))
    .description("watch jobs, queues, sites and workers in the terminal")
    .addOption(
      new Option(
        "--interval <time>",
        "time between updates, 200ms to 1h; a number of seconds, or a duration such as 500ms",
      )
        .argParser(interval)
        .default(1_000, "1s"),
    )
    .option(
      "--once",
      "print one snapshot and exit; this is the default with --json, or if stdin or stdout is not a terminal",
    )
    .addHelpText("after", EXAMPLES)
    .action((flags: TopFlags) => top(flags, shutdown));
}

function interval(value: string): number {
  const ms = parseDurationMs(secondsOrDuration(value));
  if (ms !== undefined && ms >= MIN_MS && ms <= MAX_MS) return ms;
  throw new InvalidArgumentError("--interval must be a time such as 2s or 500ms, from 200ms to 1h.");
}

async function top(flags: TopFlags, shutdown: Shutdown): Promise<void> {
  const { stdin, stdout } = process;
  const isOnce = flags.once === true || flags.json === true || !stdin.isTTY || !stdout.isTTY;
  if (isOnce) return runOnPlane({ flags }, (session) => printOnce(session, flags));
  const terminal: TopTerminal = { input: stdin, output: stdout, isColoured: pc.isColorSupported, onExit };
  // Log lines would overwrite the screen. Errors are shown in its header.
  const quiet = { ...flags, logLevel: flags.logLevel ?? "silent" };
  await runOnPlane({ flags: quiet, isScreenTaken: true }, (session) =>
    runTop(session, shutdown, terminal, { source: sourceOf(session, flags), everyMs: flags.interval }),
  );
}

async function printOnce(session: PlaneSession, flags: TopFlags): Promise<void> {
  const { plane, now, screen } = session;
  const snapshot = await createSnapshotReader(plane, now)();
  if (flags.json === true) return screen.out(`${JSON.stringify(topJson(snapshot))}\n`);
  const columns = Number.isFinite(screen.outColumns()) ? screen.outColumns() : PIPE_COLUMNS;
  const view = { ...FIRST_VIEW, isPlain: true as const };
  const frame = { snapshot, view, source: sourceOf(session, flags), trouble: undefined, command: screen.command };
  const isColoured = process.stdout.isTTY === true && pc.isColorSupported;
  const lines = plainLines(frame, columns, MAX_ROWS).map((line) => paintLine(line, isColoured).trimEnd());
  return screen.out(`${lines.join("\n")}\n`);
}

function topJson({ at, totals, jobs, queues, sites, workers }: FleetSnapshot): object {
  return { at: new Date(at).toISOString(), totals, jobs: jobs.map(jobJson), queues, sites, ...workersJson(workers) };
}

/** A job as JSON. Computed speeds need two snapshots and are left out; the job's own `rate` and `etaSeconds` stay. */
function jobJson({ perSecond: _perSecond, etaMs: _etaMs, ...job }: TopJob): object {
  return job;
}

function sourceOf({ config }: PlaneSession, { broker, store }: TopFlags): string {
  const isDirect = config.api === "none" || broker !== undefined || store !== undefined;
  return isDirect ? maskedUrl(config.broker) : config.api;
}

function onExit(restore: () => void): { remove(): void } {
  process.once("exit", restore);
  return { remove: () => void process.off("exit", restore) };
}
