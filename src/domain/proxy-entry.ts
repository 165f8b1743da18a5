/** An entry of the setting `proxies`, validated. Its credentials may still be references to secrets. */
export type ProxyEntry = {
  /** The URL as written: of a proxy, or of a gateway with `{url}` in it. A reference stands for the whole URL. */
  url: string;
  isGateway: boolean;
  tags: readonly string[];
  provider: string | undefined;
  region: string | undefined;
  cost: number;
  costPerGb: number;
  /** Undefined: `here`, and `proxy` for socks5h URLs. */
  resolve: "here" | "proxy" | undefined;
  /** Set for the proxies of HTTP_PROXY and HTTPS_PROXY: the scheme that they are for, and the hosts of NO_PROXY. */
  environment?: { scheme: "http:" | "https:"; except: readonly string[] };
};
