/** `trawl top`: the fleet at a glance, in a terminal. */
import type { Command } from "commander";
import { InvalidArgumentError, Option } from "commander";
import pc from "picocolors";
import { shownPlace } from "../../config/place.ts";
import { parseDurationMs } from "../../domain/duration.ts";
import { secondsOrDuration } from "../flags.ts";
import { inPlane, type PlaneFlags, type PlaneSession, withPlane } from "../plane/in-plane.ts";
import type { Stops } from "../stops.ts";
import { paintLine } from "../top/canvas.ts";
import { createFleetLooker } from "../top/fleet-look.ts";
import { plainLines } from "../top/frame.ts";
import { runTop, type TopTerminal } from "../top/run-top.ts";
import { topJson } from "../top/top-json.ts";
import { FIRST_VIEW } from "../top/view.ts";

type TopFlags = PlaneFlags & { once?: boolean; interval: number };

const EXAMPLES = `
Examples:
  trawl top
  trawl top --api https://trawl.example     with the key of TRAWL_API_KEY (admin)
  trawl top --once                          one look, as text
  trawl top --once --json                   one look, as one JSON object

Jobs with their progress, queues, sites and workers, once a second. Sparklines
show the last minutes. Tab goes from panel to panel, ↑ and ↓ choose, p pauses a
job or lets it go on, / filters, s sorts, ? tells the rest, q leaves. Where no
terminal is, in a pipe say, it looks once.
Exit codes: 0 left, 2 usage, 3 nobody to ask at the start.`;

const LEAST_MS = 200;
const MOST_MS = 3_600_000;
/** Rows of each panel, where no screen says how many there is room for. */
const ROWS_MOST = 20;
const PIPE_COLUMNS = 80;

export function addTop(program: Command, stops: Stops): void {
  withPlane(program.command("top"))
    .description("watch jobs, queues, sites and workers in the terminal")
    .addOption(
      new Option("--interval <time>", "how often to look (seconds, or 500ms)").argParser(interval).default(1_000, "1s"),
    )
    .option("--once", "look once, print it, and end")
    .addHelpText("after", EXAMPLES)
    .action((flags: TopFlags) => top(flags, stops));
}

function interval(value: string): number {
  const ms = parseDurationMs(secondsOrDuration(value));
  if (ms !== undefined && ms >= LEAST_MS && ms <= MOST_MS) return ms;
  throw new InvalidArgumentError("--interval takes a time such as 2s or 500ms, from 200ms to 1h.");
}

async function top(flags: TopFlags, stops: Stops): Promise<void> {
  const { stdin, stdout } = process;
  const isOnce = flags.once === true || flags.json === true || !stdin.isTTY || !stdout.isTTY;
  if (isOnce) return inPlane({ flags }, (session) => lookOnce(session, flags));
  const terminal: TopTerminal = { input: stdin, output: stdout, isColoured: pc.isColorSupported, onExit };
  // What is logged would go over the screen: it tells what matters itself.
  const quiet = { ...flags, logLevel: flags.logLevel ?? "silent" };
  await inPlane({ flags: quiet, isScreenTaken: true }, (session) =>
    runTop(session, stops, terminal, { place: placeOf(session, flags), everyMs: flags.interval }),
  );
}

async function lookOnce(session: PlaneSession, flags: TopFlags): Promise<void> {
  const { plane, now, screen } = session;
  const look = await createFleetLooker(plane, now)();
  if (flags.json === true) return screen.out(`${JSON.stringify(topJson(look))}\n`);
  const columns = Number.isFinite(screen.outColumns()) ? screen.outColumns() : PIPE_COLUMNS;
  const view = { ...FIRST_VIEW, isPlain: true as const };
  const frame = { look, view, place: placeOf(session, flags), trouble: undefined };
  const isColoured = process.stdout.isTTY === true && pc.isColorSupported;
  const lines = plainLines(frame, columns, ROWS_MOST).map((line) => paintLine(line, isColoured).trimEnd());
  return screen.out(`${lines.join("\n")}\n`);
}

function placeOf({ config }: PlaneSession, { broker, store }: TopFlags): string {
  const isDirect = config.api === "none" || broker !== undefined || store !== undefined;
  return isDirect ? shownPlace(config.broker) : config.api;
}

function onExit(restore: () => void): { forget(): void } {
  process.once("exit", restore);
  return { forget: () => void process.off("exit", restore) };
}
