import { describePool } from "./describe-pool.ts";

describePool("SQLite", {
  fresh: async () => ({}), // a file in the folder of its own that each test has
  missing: {},
});
