/** The history of the fleet. It covers all tenants, so it requires the scope admin. */
import { z } from "zod";
import { pointsOut } from "../../control/views/history.ts";
import { parseDurationMs } from "../../domain/duration.ts";
import { TrawlError } from "../../errors.ts";
import { BUCKET_WIDTHS_MS, type BucketWidth, bucketStart } from "../../store/history-store.ts";
import type { ApiDeps } from "../api-deps.ts";
import { type ApiRoute, defineRoute } from "../route.ts";
import { historySchemaOut } from "../wire/history.ts";

/** Each step is a multiple of a bucket width. */
const STEPS = ["10s", "1m", "5m", "30m", "1h", "6h", "1d"] as const;
const MAX_POINTS = 1_500;
/** The maximum number of points if the request has no step. */
const POINTS_WANTED = 400;
const HOUR_MS = 3_600_000;

const instant = z.iso.datetime({ offset: true });
const querySchema = z.strictObject({
  from: instant.optional().describe("Default: an hour before `to`."),
  to: instant.optional().describe("Default: now."),
  step: z
    .enum(STEPS)
    .optional()
    .describe(
      "The interval of a point. Default: the shortest interval that is stored for this time and gives at most 400 points.",
    ),
});

export function historyRoutes({ store, clock, config }: ApiDeps): ApiRoute[] {
  const { historyFineMs, historyMediumMs, historyCoarseMs } = config;
  const keptMs = [historyFineMs, historyMediumMs, historyCoarseMs];

  /** The shortest step whose buckets are still stored and that does not give too many points. */
  function bestStep(from: number, to: number): number {
    const steps = STEPS.map(stepMs);
    const isKept = (ms: number) => (keptMs[BUCKET_WIDTHS_MS.indexOf(widthFor(ms))] ?? 0) >= clock.now() - from;
    return steps.find((ms) => (to - from) / ms <= POINTS_WANTED && isKept(ms)) ?? Math.max(...steps);
  }

  return [
    defineRoute({
      method: "GET",
      path: "/v1/history",
      scope: "admin",
      tag: "Fleet",
      summary: "Read the history of the fleet",
      description:
        "Workers write counts to the store every 5 seconds, and servers write the number of waiting URLs, running tasks and workers every 10 seconds. By default, intervals of 10 seconds are kept for a day, intervals of 5 minutes for 14 days, and intervals of an hour for 400 days.",
      query: querySchema,
      responses: { 200: { description: "Points, oldest first.", json: historySchemaOut } },
      async handle({ query }) {
        const end = query.to === undefined ? clock.now() : Date.parse(query.to);
        const begin = query.from === undefined ? end - HOUR_MS : Date.parse(query.from);
        if (!(begin < end)) throw refused("query.from: must be before query.to");
        const step = query.step === undefined ? bestStep(begin, end) : stepMs(query.step);
        const from = bucketStart(begin, step);
        const to = Math.ceil(end / step) * step;
        const points = (to - from) / step;
        if (points > MAX_POINTS) {
          throw refused(`query.step: would give ${points} points, more than ${MAX_POINTS}; use a longer step`);
        }
        const width = widthFor(step);
        const buckets = await store.history.read(width, from, to, (to - from) / width);
        const span = { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
        return { status: 200, body: { ...span, stepSeconds: step / 1000, points: pointsOut(buckets, from, to, step) } };
      },
    }),
  ];
}

/** The widest buckets that add up to a step. */
function widthFor(step: number): BucketWidth {
  return BUCKET_WIDTHS_MS.findLast((width) => step % width === 0) ?? BUCKET_WIDTHS_MS[0];
}

function stepMs(step: (typeof STEPS)[number]): number {
  return parseDurationMs(step) ?? 0;
}

function refused(message: string): TrawlError {
  return new TrawlError("BAD_REQUEST", { op: "api.history", message });
}
