import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqliteStore } from "../../../src/store/sqlite/open-sqlite-store.ts";
import { describeHistory } from "./describe-history.ts";

describeHistory("sqlite", async () => {
  const folder = await mkdtemp(join(tmpdir(), "trawl-history-"));
  return {
    open: async () => openSqliteStore(join(folder, "store.db"), { busyMs: 10_000 }),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
});
