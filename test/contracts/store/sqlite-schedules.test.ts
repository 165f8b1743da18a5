import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqliteStore } from "../../../src/store/sqlite/open-sqlite-store.ts";
import { describeSchedules } from "./describe-schedules.ts";

describeSchedules("sqlite", async () => {
  const folder = await mkdtemp(join(tmpdir(), "trawl-schedules-"));
  return {
    open: async () => openSqliteStore(join(folder, "store.db"), { busyMs: 10_000 }),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
});
