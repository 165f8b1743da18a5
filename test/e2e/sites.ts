/** Origins that close with the test that started them. */
import { onTestFinished } from "vitest";
import { type LinkedSiteOptions, type RunningLinkedSite, startLinkedSite } from "../site/linked-site.ts";
import { type Handler, type Origin, type OriginOptions, type Routes, startOrigin } from "../site/origin.ts";

export async function originOf(content: Handler | Routes, options?: OriginOptions): Promise<Origin> {
  const origin = await startOrigin(content, options);
  onTestFinished(() => origin.close());
  return origin;
}

export async function linkedSite(site: Partial<LinkedSiteOptions>): Promise<RunningLinkedSite> {
  const running = await startLinkedSite(site);
  onTestFinished(() => running.close());
  return running;
}

/** The paths asked for, in order of arrival, robots.txt left out. */
export function pagesAsked({ log }: Pick<Origin, "log">): string[] {
  return log.map(({ path }) => path).filter((path) => path !== "/robots.txt");
}

/** A page of links. */
export function linksTo(...targets: readonly string[]): string {
  return `<h1>Links</h1>${targets.map((target) => `<a href="${target}">${target}</a>`).join(" ")}`;
}
