/** Checks the proxies of the settings, without using them. */
import { resolveExits } from "../../config/resolve-exits.ts";
import type { Config } from "../../config/schema.ts";
import { formatCount } from "../../domain/format-number.ts";
import type { Finding } from "../../frontier/frontier-admin.ts";
import { findingOf } from "./check-storage.ts";

const PROXIES_SHOWN = 5;

/** No finding without proxies. */
export function checkProxies({ proxies }: Pick<Config, "proxies">): Finding[] {
  const check = "proxies";
  if (proxies.length === 0) return [];
  try {
    const labels = [...new Set(resolveExits(proxies).map(({ label }) => label))];
    const shown = labels.slice(0, PROXIES_SHOWN).join(", ") + (labels.length > PROXIES_SHOWN ? ", …" : "");
    const isOfEnvironment = proxies.some(({ environment }) => environment !== undefined);
    const from = isOfEnvironment ? "from HTTP_PROXY and HTTPS_PROXY, because TRAWL_PROXIES is not set" : "in proxies";
    return [{ check, verdict: "ok", message: `${formatCount(labels.length)} ${from}: ${shown}` }];
  } catch (error) {
    return [findingOf(check, error)];
  }
}
