/** Starts web servers that are closed when the test has finished. */
import { onTestFinished } from "vitest";
import { type TimedArrival, watchIdleTime } from "../chaos/rate-excess.ts";
import { type LinkedSiteOptions, type RunningLinkedSite, startLinkedSite } from "../site/linked-site.ts";
import {
  type Arrival,
  type Handler,
  type Origin,
  type OriginOptions,
  type Routes,
  startOrigin,
} from "../site/origin.ts";

export async function originOf(content: Handler | Routes, options?: OriginOptions): Promise<Origin> {
  const origin = await startOrigin(content, options);
  onTestFinished(() => origin.close());
  return origin;
}

export async function linkedSite(
  site: Partial<LinkedSiteOptions>,
  options?: OriginOptions,
): Promise<RunningLinkedSite> {
  const running = await startLinkedSite(site, options);
  onTestFinished(() => running.close());
  return running;
}

/**
 * Records when requests arrive, with the uncertainty of a busy process (rate-excess.ts). Pass `options` to the origin.
 */
export function recordArrivals(): { options: OriginOptions; arrivals: (TimedArrival & { path: string })[] } {
  const idleWatch = watchIdleTime();
  onTestFinished(() => idleWatch.stop());
  const arrivals: (TimedArrival & { path: string })[] = [];
  const onArrival = ({ arrivedAt, path }: Readonly<Arrival>) =>
    void arrivals.push({ arrivedAt, path, arrivedAfter: idleWatch.lastIdleAt() });
  return { options: { onArrival }, arrivals };
}

/** The requested paths in order of arrival, without robots.txt. */
export function pagesRequested({ log }: Pick<Origin, "log">): string[] {
  return log.map(({ path }) => path).filter((path) => path !== "/robots.txt");
}

/** A page with these links. */
export function linksTo(...targets: readonly string[]): string {
  return `<h1>Links</h1>${targets.map((target) => `<a href="${target}">${target}</a>`).join(" ")}`;
}
