/** Converts cookies between a session and a browser. */
import type { BrowserContext } from "playwright-core";
import type { StoredCookie } from "../../domain/cookie.ts";

type BrowserCookie = Awaited<ReturnType<BrowserContext["cookies"]>>[number];
type NewCookie = Parameters<BrowserContext["addCookies"]>[0][number];

export function toBrowser({ key, value = "", domain, path, ...rest }: StoredCookie): NewCookie {
  return {
    ...{ name: key, value, path },
    // With a leading dot, the cookie is also sent to subdomains.
    domain: rest.hostOnly === true ? domain : `.${domain}`,
    expires: rest.expires === undefined ? -1 : Date.parse(rest.expires) / 1000,
    httpOnly: rest.httpOnly ?? false,
    secure: rest.secure ?? false,
    sameSite: SAME_SITE[rest.sameSite?.toLowerCase() ?? ""] ?? "Lax",
  };
}

export function fromBrowser({
  name,
  value,
  domain,
  path,
  expires,
  httpOnly,
  secure,
  sameSite,
}: BrowserCookie): StoredCookie {
  return {
    ...{ key: name, value, path, httpOnly, secure },
    domain: domain.replace(/^\./, ""),
    hostOnly: !domain.startsWith("."),
    sameSite: sameSite.toLowerCase(),
    ...(expires < 0 ? {} : { expires: new Date(expires * 1000).toISOString() }),
  };
}

const SAME_SITE: Readonly<Record<string, "Strict" | "Lax" | "None">> = { strict: "Strict", lax: "Lax", none: "None" };
