/**
 * Runs the screen until the user quits. It takes a snapshot every `everyMs`, and draws after each snapshot and each
 * key. If the broker or server is unavailable, the header shows the error, the panels show the last snapshot, and
 * polling continues.
 */
import { clearInterval, setInterval } from "node:timers";
import { isTrawlError } from "../../errors.ts";
import { showable } from "../../runtime/showable.ts";
import type { PlaneSession } from "../plane/run-on-plane.ts";
import type { Shutdown } from "../shutdown.ts";
import { withCommand } from "../terminal.ts";
import { aborted } from "../watch-job.ts";
import { type Canvas, openCanvas } from "./canvas.ts";
import { createSnapshotReader, type FleetSnapshot } from "./fleet-snapshot.ts";
import { frameLines } from "./frame.ts";
import { jobsShown, PANELS, type PanelName, panelRows } from "./panels.ts";
import { readKeys } from "./read-keys.ts";
import { FIRST_VIEW, press, type ScreenContents, type TopAction, type View } from "./view.ts";

export type TopTerminal = {
  input: Pick<NodeJS.ReadStream, "setRawMode" | "on" | "off" | "resume" | "pause" | "setEncoding">;
  output: NodeJS.WriteStream;
  isColoured: boolean;
  /** Calls `restore` if the process exits while the screen is open. */
  onExit(restore: () => void): { remove(): void };
};

type TopRun = { source: string; everyMs: number };

/** After this many intervals without a response, the header shows a message. */
const LATE_INTERVALS = 3;

export async function runTop(
  session: PlaneSession,
  shutdown: Shutdown,
  terminal: TopTerminal,
  run: TopRun,
): Promise<void> {
  const { plane, now, screen } = session;
  const { command } = screen;
  const readSnapshot = createSnapshotReader(plane, now);
  // The first snapshot is taken before the screen opens: if it fails, the error is printed as by every other command.
  let snapshot = await readSnapshot();
  let updatedAt = now();
  let failure: string | undefined;
  let view: View = FIRST_VIEW;
  let isReading = false;
  const over = new AbortController();
  const canvas = openCanvas(terminal.output, terminal.isColoured);

  function draw(): void {
    const trouble = failure ?? lateText(now() - updatedAt, run.everyMs);
    canvas.draw(frameLines({ snapshot, view, source: run.source, trouble, command }, canvas.size()));
  }

  async function refresh(): Promise<void> {
    draw(); // updates the time since the last response
    if (isReading) return; // polls do not queue up behind a slow one
    isReading = true;
    try {
      snapshot = await readSnapshot();
      failure = undefined;
      updatedAt = now();
    } catch (error) {
      failure = errorText(error, ", retrying");
    }
    isReading = false;
    draw();
  }

  async function perform(action: TopAction): Promise<void> {
    if (action.kind === "quit") return over.abort();
    if (action.kind === "redraw") return canvas.invalidate();
    const { verb, id } = action.question;
    try {
      const { state } = await plane.controlJob(id, verb);
      view = { ...view, notice: `job ${id} is ${state}` };
    } catch (error) {
      view = { ...view, notice: withCommand(errorText(error), screen) };
    }
    await refresh();
  }

  function onInput(input: string): void {
    for (const key of readKeys(input)) {
      const pressed = press(view, key, contentsOf(snapshot, view));
      view = pressed.view;
      if (pressed.action !== undefined) void perform(pressed.action);
    }
    draw();
  }

  await onScreen({ canvas, terminal, shutdown, over, onInput, draw }, async () => {
    draw();
    const timer = setInterval(refresh, run.everyMs);
    await aborted(over.signal);
    clearInterval(timer);
  });
}

type ScreenDeps = {
  canvas: Canvas;
  terminal: TopTerminal;
  shutdown: Shutdown;
  over: AbortController;
  onInput(input: string): void;
  draw(): void;
};

/** Handles keys, signals and resizes while `work` runs, then restores the terminal. */
async function onScreen(
  { canvas, terminal, shutdown, over, onInput, draw }: ScreenDeps,
  work: () => Promise<void>,
): Promise<void> {
  const { input, output } = terminal;
  function restore(): void {
    canvas.close();
    input.setRawMode(false);
  }
  function resized(): void {
    canvas.invalidate();
    draw();
  }
  const exit = terminal.onExit(restore);
  const stopped = shutdown.onStop(() => over.abort());
  const gone = () => over.abort();
  input.setRawMode(true);
  input.setEncoding("utf8");
  input.on("data", onInput);
  input.on("end", gone);
  input.resume();
  output.on("resize", resized);
  if (shutdown.isRequested) over.abort();
  try {
    await work();
  } finally {
    input.off("data", onInput);
    input.off("end", gone);
    output.off("resize", resized);
    input.pause();
    restore();
    stopped.remove();
    exit.remove();
  }
}

function contentsOf(snapshot: FleetSnapshot, view: View): ScreenContents {
  const counts = Object.fromEntries(PANELS.map((panel) => [panel, panelRows(panel, snapshot, view).count])) as Record<
    PanelName,
    number
  >;
  const jobs = jobsShown(snapshot, view);
  return { counts, job: jobs[Math.min(view.selected.jobs, jobs.length - 1)] };
}

function lateText(silentMs: number, everyMs: number): string | undefined {
  if (silentMs < everyMs * LATE_INTERVALS) return undefined;
  return `no response for ${Math.round(silentMs / 1000)}s, retrying`;
}

function errorText(error: unknown, suffix = ""): string {
  const { code, message } = isTrawlError(error) ? error : { code: "INTERNAL", message: String(error) };
  return showable(`${code}${suffix}: ${message}`);
}
