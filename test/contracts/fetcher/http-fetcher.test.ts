import { parseNetworks } from "../../../src/fetch/egress/address.ts";
import { createEgressGate } from "../../../src/fetch/egress/gate.ts";
import { createHttpFetcher } from "../../../src/fetch/http/http-fetcher.ts";
import { describeFetcher } from "./describe-fetcher.ts";

describeFetcher("http", (deps) => {
  const gate = createEgressGate(
    {},
    { allowNetworks: parseNetworks("127.0.0.0/8").networks, allowHosts: [], connectMs: 5_000 },
  );
  return createHttpFetcher({ ...deps, gate }, { userAgent: "Trawl/test", connectionsPerSite: 4, keepAliveMs: 60_000 });
});
