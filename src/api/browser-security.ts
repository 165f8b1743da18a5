/** Prevents web pages of other origins from calling the API through the user's browser. */
import type { FastifyRequest } from "fastify";

/** Prevents browsers from displaying, framing, caching and sniffing API responses. */
export const API_HEADERS = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
} as const;

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i;

/** Why the origin of a request is refused; undefined if it is accepted. */
export function originProblem(
  { headers }: Pick<FastifyRequest, "headers">,
  { isOpen }: { isOpen: boolean },
): string | undefined {
  const { origin, host = "" } = headers;
  if (origin !== undefined && hostOf(origin) !== host.toLowerCase()) {
    return `requests from pages of ${origin} are not allowed; only pages of this server may call this API`;
  }
  // Without keys, a foreign host name that resolves to this machine (DNS rebinding) would give access.
  if (isOpen && !LOOPBACK.test(host)) {
    return `this server requires no key, so it accepts only localhost and loopback addresses as Host, not ${host}`;
  }
  return undefined;
}

/** Whether an address is a loopback address. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host) || host === "::1";
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}
