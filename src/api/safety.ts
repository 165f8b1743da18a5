/** What keeps other people's pages, open in a browser on the same machine, from using the API in somebody's name. */
import type { FastifyRequest } from "fastify";

/** The API is for programs: nothing of it is to be shown, framed, kept or guessed at by a browser. */
export const API_HEADERS = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
} as const;

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i;

/** Why a request is not taken, in words; undefined if nothing is wrong with where it comes from. */
export function originProblem(
  { headers }: Pick<FastifyRequest, "headers">,
  { isOpen }: { isOpen: boolean },
): string | undefined {
  const { origin, host = "" } = headers;
  if (origin !== undefined && hostOf(origin) !== host.toLowerCase()) {
    return `a page of ${origin} may not ask here; only pages of this server may`;
  }
  // Where no key is asked for, a foreign name that resolves to this machine would be as good as one.
  if (isOpen && !LOOPBACK.test(host)) {
    return `this server answers without a key, and so only to 127.0.0.1 or localhost, not to ${host}`;
  }
  return undefined;
}

/** Whether an address can be reached from this machine alone. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host) || host === "::1";
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}
