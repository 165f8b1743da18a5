/** A cookie as JSON, in the form of the library tough-cookie. The broker stores it, and browsers get it converted. */
export type StoredCookie = {
  key: string;
  value?: string;
  domain: string;
  path: string;
  /** ISO 8601. Missing: the cookie lasts as long as the session. */
  expires?: string;
  secure?: boolean;
  httpOnly?: boolean;
  /** Whether the cookie belongs to the host only, and not to its subdomains. */
  hostOnly?: boolean;
  sameSite?: string;
};
