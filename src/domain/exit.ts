/**
 * An exit is a proxy or a gateway through which requests are sent to sites. The operator lists them. A gateway is a
 * service that fetches a page for the caller. Its URL contains that of the page: `https://api.example/?url={url}`.
 */

export const EXIT_KINDS = ["http", "https", "socks5", "gateway"] as const;
export type ExitKind = (typeof EXIT_KINDS)[number];

export type Exit = {
  /** Identifies the exit in the health of the fleet. Equal in all processes with the same list; contains no secret. */
  id: string;
  kind: ExitKind;
  /** The URL without credentials and query values, for people. */
  label: string;
  /** The URL of the proxy without credentials, or of the gateway with `{url}` in place of the requested URL. */
  url: string;
  username: string;
  password: string;
  /** Names that jobs use to select exits. Contains the provider and the region too. */
  tags: readonly string[];
  provider: string;
  region: string | undefined;
  /** The price of one request, in any unit that the operator uses for all exits. */
  cost: number;
  /** The price of 1,000,000,000 bytes, in the same unit. */
  costPerGb: number;
  /** Who resolves host names: Trawl, which checks the addresses, or the proxy. */
  resolve: "here" | "proxy";
  /** The schemes of the URLs that it is used for; undefined: all. Only proxies of HTTP_PROXY and HTTPS_PROXY set it. */
  scheme?: "http:" | "https:";
};

/** How a job uses exits. */
export type ExitRules = {
  /** Tags of the exits to use first. Empty: all exits. */
  use: readonly string[];
  /** Tags of the exits to use after a block, one tier after the other. */
  fallbacks: readonly string[];
  /** When the exit changes: with every request, with the session, or never at one site. */
  rotate: "request" | "session" | "site";
  region: string | undefined;
  /** The maximum number of requests through the exits of `fallbacks`. */
  budget: number | undefined;
};

/** `none`: the job sends its requests directly, even if exits are configured. */
export type JobExits = ExitRules | "none";

/** The rules of jobs that set none, and of requests that belong to no job, such as those for robots.txt. */
export const DEFAULT_EXIT_RULES: ExitRules = {
  use: [],
  fallbacks: [],
  rotate: "request",
  region: undefined,
  budget: undefined,
};

/** What a job has spent at one provider. */
export type Spent = { requests: number; bytes: number; cost: number };

/** `taken`: the requests through `fallbacks` that processes have taken from the budget. */
export type JobSpending = { taken: number; providers: Record<string, Spent> };

const GB = 1e9;

/** The price of a request with so many bytes. */
export function priceOf({ cost, costPerGb }: Pick<Exit, "cost" | "costPerGb">, bytes: number): number {
  return cost + (costPerGb * bytes) / GB;
}
