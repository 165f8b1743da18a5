/** What the fleet did, over time: everybody's work together, so it takes the scope admin. */
import { z } from "zod";
import { parseDurationMs } from "../../domain/duration.ts";
import { TrawlError } from "../../errors.ts";
import { SLOT_WIDTHS_MS, type SlotWidth, slotAt } from "../../store/history-book.ts";
import type { ApiDeps } from "../api-deps.ts";
import { defineRoute, type Route } from "../route.ts";
import { historySchemaOut, pointsOut } from "../wire-history.ts";

/** Each is made of whole slots of the width before it in SLOT_WIDTHS_MS. */
const STEPS = ["10s", "1m", "5m", "30m", "1h", "6h", "1d"] as const;
const POINTS_MOST = 1_500;
/** What one answer has unless its step is given. */
const POINTS_WANTED = 400;
const HOUR_MS = 3_600_000;

const instant = z.iso.datetime({ offset: true });
const asked = z.strictObject({
  from: instant.optional().describe("An hour before `to` unless given."),
  to: instant.optional().describe("Now unless given."),
  step: z
    .enum(STEPS)
    .optional()
    .describe("How much time a point is for; unless given, as little as there is and fits."),
});

export function historyRoutes({ store, clock, config }: ApiDeps): Route[] {
  const { historyFineMs, historyMediumMs, historyCoarseMs } = config;
  const keptMs = [historyFineMs, historyMediumMs, historyCoarseMs];

  /** The least step for which there are slots, and not too many points. */
  function bestStep(from: number, to: number): number {
    const steps = STEPS.map(stepMs);
    const isKept = (ms: number) => (keptMs[SLOT_WIDTHS_MS.indexOf(widthFor(ms))] ?? 0) >= clock.now() - from;
    return steps.find((ms) => (to - from) / ms <= POINTS_WANTED && isKept(ms)) ?? Math.max(...steps);
  }

  return [
    defineRoute({
      method: "GET",
      path: "/v1/history",
      scope: "admin",
      tag: "Fleet",
      summary: "What the fleet did over time, and how it stood",
      says: "From the store, which workers and servers write every few seconds: it outlives all of them. Slots of 10 seconds are kept for a day, of 5 minutes for 14 days, of an hour for 400 days, unless the settings say otherwise.",
      query: asked,
      answers: { 200: { says: "Points, oldest first.", json: historySchemaOut } },
      async handle({ query }) {
        const end = query.to === undefined ? clock.now() : Date.parse(query.to);
        const begin = query.from === undefined ? end - HOUR_MS : Date.parse(query.from);
        if (!(begin < end)) throw refused("query.from: is not before query.to");
        const step = query.step === undefined ? bestStep(begin, end) : stepMs(query.step);
        const from = slotAt(begin, step);
        const to = Math.ceil(end / step) * step;
        const points = (to - from) / step;
        if (points > POINTS_MOST) {
          throw refused(
            `query.step: that would be ${points} points, and ${POINTS_MOST} are the most; take a longer step`,
          );
        }
        const width = widthFor(step);
        const slots = await store.history.read(width, from, to, (to - from) / width);
        const span = { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
        return { status: 200, body: { ...span, stepSeconds: step / 1000, points: pointsOut(slots, from, to, step) } };
      },
    }),
  ];
}

/** The widest slots of which a step is made. */
function widthFor(step: number): SlotWidth {
  return SLOT_WIDTHS_MS.findLast((width) => step % width === 0) ?? SLOT_WIDTHS_MS[0];
}

function stepMs(step: (typeof STEPS)[number]): number {
  return parseDurationMs(step) ?? 0;
}

function refused(message: string): TrawlError {
  return new TrawlError("BAD_REQUEST", { op: "api.history", message });
}
