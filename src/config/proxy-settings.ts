/** Settings for proxies and gateways. */
import { name } from "./fields.ts";
import { proxyList } from "./proxy-list.ts";

export const PROXY_SETTINGS = {
  proxies: proxyList({
    env: "TRAWL_PROXIES",
    doc: "Proxies and gateways that requests for pages and robots.txt go through: `[{ url, tags, provider, region, cost, resolve }]`, or `gateway` instead of `url`. In the environment: URLs, separated by commas, or the path of a file with one URL per line or a JSON array. If you do not set it, `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` apply. See [proxies](proxies.md).",
  }),
  region: name({
    env: "TRAWL_REGION",
    default: "any",
    doc: "Region of the worker. It then uses only proxies of the same `region`, and those without a region, and it runs the tasks of jobs with `proxy.region` only for this region. `any`: all proxies and regions.",
  }),
} as const;
