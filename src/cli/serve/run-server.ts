/** Runs the control plane in this process until it is stopped. */
import type { Session } from "../session.ts";
import type { Stops } from "../stops.ts";
import { aborted } from "../watch-job.ts";

/** Where it is found, and whether there is a dashboard: one that runs from its sources may have none. */
export type Listening = { url: string; hasDashboard: boolean };

type ServerRun = {
  /** Whether it fires what schedules have due. */
  schedules: boolean;
  /** It is there, and answers. */
  onListening(at: Listening): void | Promise<void>;
};

export const NO_DASHBOARD = "there is no dashboard: it was not built (npm run build)";

/** Throws ADDRESS_TAKEN, or BAD_CONFIG where it would be open to everybody. */
export async function runServer({ config, trawl }: Session, stops: Stops, run: ServerRun): Promise<void> {
  // Loaded on first use: no other command needs a server.
  const [{ composeApi, composeSampler, hasDashboard }, { composeSchedules }, { composeRetention }] = await Promise.all([
    import("../../compose-api.ts"),
    import("../../compose-schedules.ts"),
    import("../../compose-retention.ts"),
  ]);
  const asked = new AbortController();
  const stopped = stops.once(() => asked.abort());
  if (stops.isAsked) asked.abort(); // while everything was being opened
  const retention = composeRetention(config, trawl);
  const server = await composeApi(config, trawl, retention);
  const { url } = await server.start();
  const scheduler = composeSchedules(config, trawl, server.meter.slots(trawl.store.schedules)).createScheduler();
  const sampler = composeSampler(trawl);
  if (run.schedules) scheduler.start();
  retention.start();
  sampler.start();
  await run.onListening({ url, hasDashboard: hasDashboard() });
  await aborted(asked.signal);
  stopped.forget();
  await Promise.all([server.stop(), scheduler.stop(), retention.stop(), sampler.stop()]);
}
