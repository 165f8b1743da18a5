/** Settings for proxies and gateways. */
import { name } from "./fields.ts";
import { proxyList } from "./proxy-list.ts";

export const PROXY_SETTINGS = {
  proxies: proxyList({
    env: "TRAWL_PROXIES",
    doc: "Proxies and gateways for the requests for pages and robots.txt: `[{ url, tags, provider, region, cost, resolve }]`, or `gateway` instead of `url`. In the environment: URLs, separated by commas, or the path of a file with one URL per line or a JSON array. If you do not set it, `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` apply. See [proxies](proxies.md).",
  }),
  region: name({
    env: "TRAWL_REGION",
    default: "any",
    doc: "Region of the worker. The worker uses only proxies of this region, and those without a region. It runs tasks of jobs with `proxy.region` only if the job has the same region. `any`: all proxies and regions.",
  }),
} as const;
