/** Describes the sitemaps, headers, sessions, login, proxies and retries of a job in a few words. */
import type { JobInput } from "../../../../src/client/client.ts";
import { count, plural } from "../../ui/format.ts";

type Options = Pick<JobInput, "sitemaps" | "headers" | "cookies" | "sessions" | "login" | "proxy" | "retries">;

export function sitemapsText({ sitemaps }: Options): string {
  if (sitemaps === undefined) return "not read";
  const isDetailed = typeof sitemaps === "object" && !Array.isArray(sitemaps);
  const from = isDetailed ? sitemaps.from : sitemaps;
  const source = Array.isArray(from) ? plural(from.length, "sitemap") : "those of robots.txt";
  return isDetailed && sitemaps.since !== undefined ? `${source}, pages since ${sitemaps.since}` : source;
}

export function headersText({ headers = {} }: Options): string {
  const names = Object.keys(headers);
  return names.length === 0 ? "none" : names.join(", ");
}

export function sessionsText({ cookies, sessions, login }: Options): string {
  if (sessions === undefined) return cookies === true || login !== undefined ? "one, cookies are kept" : "no cookies";
  const { count: size = 1, per, rotateAfter } = sessions;
  const number = `${count(size)}${per === "site" ? " per site" : ""}`;
  return rotateAfter === undefined ? number : `${number}, replaced after ${plural(rotateAfter, "task")}`;
}

export function loginText({ login }: Options): string {
  return login === undefined ? "none" : login.url;
}

export function proxyText({ proxy = {} }: Options): string {
  const { use = [], then: fallbacks = [], rotate, region, budget } = proxy;
  if (use === "none") return "none, requests are sent directly";
  return [
    use.length === 0 ? "all of the worker" : use.join(" or "),
    ...fallbacks.map((tag) => `then ${tag}`),
    ...(rotate === undefined ? [] : [`one per ${rotate}`]),
    ...(region === undefined ? [] : [`region ${region}`]),
    ...(budget === undefined ? [] : [`budget ${count(budget)}`]),
  ].join(", ");
}

export function retriesText({ retries = {} }: Options): string {
  const parts = [
    ...(retries.max === undefined ? [] : [`at most ${count(retries.max)}`]),
    ...(retries.backoff === undefined ? [] : [`after ${retries.backoff}`]),
    ...(retries.unsafe === false ? ["no request is repeated that may change data"] : []),
  ];
  return parts.length === 0 ? "server default" : parts.join(", ");
}
