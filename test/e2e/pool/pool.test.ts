import type { FleetBroker } from "../fleet/fleet.ts";
import { describePool, describePoolProcesses } from "./describe-pool.ts";

const sqlite: FleetBroker = {
  fresh: async () => ({}), // a file in the folder of its own that each test has
  missing: {},
};

describePool("SQLite", sqlite);
describePoolProcesses(sqlite);
