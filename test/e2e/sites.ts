/** Web servers that close when the test that started them has finished. */
import { onTestFinished } from "vitest";
import { keepLookout, type Sighting } from "../chaos/lookout.ts";
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

/** Records when requests arrive, as exactly as a busy process can. Pass `options` to the origin. */
export function watched(): { options: OriginOptions; sightings: (Sighting & { path: string })[] } {
  const lookout = keepLookout();
  onTestFinished(() => lookout.stop());
  const sightings: (Sighting & { path: string })[] = [];
  const onArrival = ({ arrivedAt, path }: Readonly<Arrival>) =>
    void sightings.push({ arrivedAt, path, seenFrom: lookout.seenFrom() });
  return { options: { onArrival }, sightings };
}

/** The requested paths in order of arrival, without robots.txt. */
export function pagesAsked({ log }: Pick<Origin, "log">): string[] {
  return log.map(({ path }) => path).filter((path) => path !== "/robots.txt");
}

/** A page with these links. */
export function linksTo(...targets: readonly string[]): string {
  return `<h1>Links</h1>${targets.map((target) => `<a href="${target}">${target}</a>`).join(" ")}`;
}
