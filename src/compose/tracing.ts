/** Starts tracing: with an SDK that is already registered (`node --import`), or with one that Trawl starts. */
import type { Config } from "../config/schema.ts";
import { isTrawlError } from "../errors.ts";
import type { Log } from "../runtime/log.ts";
import { thisProcess } from "../runtime/process-identity.ts";
import type { Redact } from "../runtime/redact.ts";
import { NO_TRACING, type Tracing } from "../runtime/tracing.ts";
import { VERSION } from "../version.ts";

type Deps = { log: Log; redact: Pick<Redact, "text"> };

/** Where the OpenTelemetry API stores registrations. Reading it loads no package. */
const REGISTERED = Symbol.for("opentelemetry.js.api.1");
/** The time limit for the export of spans when the process ends. */
const CLOSE_MS = 5_000;
const NAME = "trawl";

/** Throws TRACING_UNAVAILABLE if tracing is on and its packages are not installed. */
export async function composeTracing(
  config: Pick<Config, "otel" | "traceShare">,
  { log, redact }: Deps,
): Promise<Tracing> {
  const isRegistered = (globalThis as { [REGISTERED]?: { trace?: unknown } })[REGISTERED]?.trace !== undefined;
  if (!isRegistered && config.otel === "off") return NO_TRACING;
  // Loaded on first use: most processes record no traces.
  const { createOtelTracing } = await import("../runtime/otel/otel-tracing.ts");
  const options = { share: config.traceShare };
  if (isRegistered) {
    const { trace } = await import("@opentelemetry/api");
    const tracer = trace.getTracer(NAME, VERSION);
    return createOtelTracing({ tracer, ids: undefined, redact: redact.text, shutdown: async () => {} }, options);
  }
  const [{ startSdk }, { createPlannedIds }] = await Promise.all([
    import("../runtime/otel/start-sdk.ts"),
    import("../runtime/otel/planned-ids.ts"),
  ]);
  const ids = createPlannedIds();
  try {
    const { tracer, shutdown } = await startSdk(ids, { name: NAME, version: VERSION, instance: thisProcess() });
    return createOtelTracing({ tracer, ids, redact: redact.text, shutdown: () => inTime(shutdown, log) }, options);
  } catch (error) {
    if (config.otel !== "auto" || !isTrawlError(error, "TRACING_UNAVAILABLE")) throw error;
    log.info("tracing.unavailable", { cause: error });
    return NO_TRACING;
  }
}

/**
 * Shuts tracing down within `CLOSE_MS`, so that a collector that does not respond does not delay the end of the
 * process.
 */
async function inTime(shutdown: () => Promise<void>, log: Log): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      log.warn("tracing.spans_lost", { afterMs: CLOSE_MS });
      resolve();
    }, CLOSE_MS);
  });
  const exported = shutdown().catch((cause: unknown) => log.warn("tracing.spans_lost", { cause }));
  await Promise.race([exported, late]);
  clearTimeout(timer);
}
