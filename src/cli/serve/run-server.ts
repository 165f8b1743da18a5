/** Runs the API server in this process until it is stopped. */
import type { CommandSession } from "../session.ts";
import type { Shutdown } from "../shutdown.ts";
import { aborted } from "../watch-job.ts";

/** `hasDashboard` is false if the program runs from sources and the dashboard was not built. */
export type Listening = { url: string; hasDashboard: boolean };

type ServerRun = {
  /** Whether this server starts scheduled runs. */
  schedules: boolean;
  /** Called when the server accepts requests. */
  onListening(at: Listening): void | Promise<void>;
};

export const NO_DASHBOARD = "the dashboard is not available: build it with npm run build";

/**
 * Runs the server. Throws ADDRESS_TAKEN, or BAD_CONFIG if the server would listen on a public address without API keys.
 */
export async function runServer({ config, trawl }: CommandSession, shutdown: Shutdown, run: ServerRun): Promise<void> {
  // Imported on first use: no other command needs a server.
  const [{ composeApi, composeSampler, hasDashboard }, { composeSchedules }, { composeRetention }] = await Promise.all([
    import("../../compose/api.ts"),
    import("../../compose/schedules.ts"),
    import("../../compose/retention.ts"),
  ]);
  const stopping = new AbortController();
  const stopped = shutdown.onStop(() => stopping.abort());
  if (shutdown.isRequested) stopping.abort(); // a signal arrived while the session was opened
  const retention = composeRetention(config, trawl);
  const server = await composeApi(config, trawl, retention);
  const { url } = await server.start();
  const scheduler = composeSchedules(config, trawl, server.meter.occurrences(trawl.store.schedules)).createScheduler();
  const sampler = composeSampler(trawl);
  if (run.schedules) scheduler.start();
  retention.start();
  sampler.start();
  await run.onListening({ url, hasDashboard: hasDashboard() });
  await aborted(stopping.signal);
  stopped.remove();
  await Promise.all([server.stop(), scheduler.stop(), retention.stop(), sampler.stop()]);
}
