import type { FleetBroker } from "../fleet/fleet.ts";
import { describePool, describePoolProcesses } from "./describe-pool.ts";

const sqlite: FleetBroker = {
  fresh: async () => ({}), // each test has its own folder with a broker file
  missing: {},
};

describePool("SQLite", sqlite);
describePoolProcesses(sqlite);
