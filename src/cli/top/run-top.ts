/**
 * Runs the screen until somebody leaves it: looks every `everyMs`, draws after each look and each key. A broker or server
 * that is away is told in the header, over what was seen last; looking goes on, and what was lost comes back by itself.
 */
import { clearInterval, setInterval } from "node:timers";
import { isTrawlError } from "../../errors.ts";
import { showable } from "../../runtime/showable.ts";
import type { PlaneSession } from "../plane/in-plane.ts";
import type { Stops } from "../stops.ts";
import { aborted } from "../watch-job.ts";
import { type Canvas, openCanvas } from "./canvas.ts";
import { createFleetLooker, type FleetLook } from "./fleet-look.ts";
import { frameLines } from "./frame.ts";
import { jobsShown, PANELS, type PanelName, panelRows } from "./panels.ts";
import { readKeys } from "./read-keys.ts";
import { FIRST_VIEW, type Order, press, type Shown, type View } from "./view.ts";

export type TopTerminal = {
  input: Pick<NodeJS.ReadStream, "setRawMode" | "on" | "off" | "resume" | "pause" | "setEncoding">;
  output: NodeJS.WriteStream;
  isColoured: boolean;
  /** Called when the process ends without having left the screen. */
  onExit(restore: () => void): { forget(): void };
};

type TopRun = { place: string; everyMs: number };

/** Unheard of for so many looks, it is said. */
const LATE_LOOKS = 3;

export async function runTop(session: PlaneSession, stops: Stops, terminal: TopTerminal, run: TopRun): Promise<void> {
  const { plane, now } = session;
  const lookNow = createFleetLooker(plane, now);
  // Whoever has nobody to ask hears that as with every other command, before the screen is taken.
  let look = await lookNow();
  let lookedAt = now();
  let failure: string | undefined;
  let view: View = FIRST_VIEW;
  let isLooking = false;
  const over = new AbortController();
  const canvas = openCanvas(terminal.output, terminal.isColoured);

  function draw(): void {
    const trouble = failure ?? lateWords(now() - lookedAt, run.everyMs);
    canvas.draw(frameLines({ look, view, place: run.place, trouble }, canvas.size()));
  }

  async function lookAgain(): Promise<void> {
    draw(); // how long nobody has answered goes on meanwhile
    if (isLooking) return; // looks do not pile up behind one that is kept waiting
    isLooking = true;
    try {
      look = await lookNow();
      failure = undefined;
      lookedAt = now();
    } catch (error) {
      failure = troubleWords(error, ", asking on");
    }
    isLooking = false;
    draw();
  }

  async function obey(order: Order): Promise<void> {
    if (order.kind === "quit") return over.abort();
    if (order.kind === "redraw") return canvas.forget();
    const { verb, id } = order.question;
    try {
      const { state } = await plane.steer(id, verb);
      view = { ...view, notice: `job ${id} is ${state}` };
    } catch (error) {
      view = { ...view, notice: troubleWords(error) };
    }
    await lookAgain();
  }

  function hear(input: string): void {
    for (const key of readKeys(input)) {
      const pressed = press(view, key, shownOf(look, view));
      view = pressed.view;
      if (pressed.order !== undefined) void obey(pressed.order);
    }
    draw();
  }

  await onScreen({ canvas, terminal, stops, over, hear, draw }, async () => {
    draw();
    const timer = setInterval(lookAgain, run.everyMs);
    await aborted(over.signal);
    clearInterval(timer);
  });
}

type Held = {
  canvas: Canvas;
  terminal: TopTerminal;
  stops: Stops;
  over: AbortController;
  hear(input: string): void;
  draw(): void;
};

/** Keys, signals and the size of the screen are listened to while `work` runs; then all is as it was. */
async function onScreen({ canvas, terminal, stops, over, hear, draw }: Held, work: () => Promise<void>): Promise<void> {
  const { input, output } = terminal;
  function restore(): void {
    canvas.close();
    input.setRawMode(false);
  }
  function resized(): void {
    canvas.forget();
    draw();
  }
  const exit = terminal.onExit(restore);
  const stopped = stops.once(() => over.abort());
  const gone = () => over.abort();
  input.setRawMode(true);
  input.setEncoding("utf8");
  input.on("data", hear);
  input.on("end", gone);
  input.resume();
  output.on("resize", resized);
  if (stops.isAsked) over.abort();
  try {
    await work();
  } finally {
    input.off("data", hear);
    input.off("end", gone);
    output.off("resize", resized);
    input.pause();
    restore();
    stopped.forget();
    exit.forget();
  }
}

function shownOf(look: FleetLook, view: View): Shown {
  const counts = Object.fromEntries(PANELS.map((panel) => [panel, panelRows(panel, look, view).count])) as Record<
    PanelName,
    number
  >;
  const jobs = jobsShown(look, view);
  return { counts, job: jobs[Math.min(view.selected.jobs, jobs.length - 1)] };
}

function lateWords(silentMs: number, everyMs: number): string | undefined {
  if (silentMs < everyMs * LATE_LOOKS) return undefined;
  return `no answer for ${Math.round(silentMs / 1000)}s, asking on`;
}

function troubleWords(error: unknown, doing = ""): string {
  const { code, message } = isTrawlError(error) ? error : { code: "INTERNAL", message: String(error) };
  return showable(`${code}${doing}: ${message}`);
}
