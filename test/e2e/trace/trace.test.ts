import { describeTrace } from "./describe-trace.ts";

describeTrace("SQLite", {
  fresh: async () => ({}),
  missing: { TRAWL_BROKER: "sqlite:/dev/null/broker.db" },
});
