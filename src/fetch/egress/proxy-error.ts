/** Errors of connections through a proxy. `transport-error.ts` maps them to outcomes. */

/** The proxy itself does not work: it cannot be reached, breaks its protocol, or refuses the credentials. */
export const PROXY_FAILED = "PROXY_FAILED";
/** The proxy works, but did not connect to the site. */
export const PROXY_NOT_CONNECTED = "PROXY_NOT_CONNECTED";

type ProxyErrorCode = typeof PROXY_FAILED | typeof PROXY_NOT_CONNECTED;

export function proxyError(code: ProxyErrorCode, message: string): Error {
  return Object.assign(new Error(message), { code });
}
