import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqliteStore } from "../../../src/store/sqlite/open-sqlite-store.ts";
import { describeProcesses } from "./describe-processes.ts";

describeProcesses("sqlite", async () => {
  const folder = await mkdtemp(join(tmpdir(), "trawl-store-"));
  const path = join(folder, "store.db");
  return {
    path,
    open: async () => openSqliteStore(path, { busyMs: 10_000 }),
    remove: () => rm(folder, { recursive: true }),
  };
});
