/**
 * A process that writes to a store until it is killed, or for `batches` batches, and prints the number of each batch
 * after the store has confirmed it. Arguments: path or URL of the store, its name, batches, which tasks to write (`own`
 * or `shared`).
 */
import { writeSync } from "node:fs";
import { isPostgresUrl } from "../../../src/store/postgres/connection-url.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open-sqlite-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { aPageWrite } from "./page-write.ts";
import { STORE_DEPS } from "./store-deps.ts";
import { BATCH_PAGES, PAGE_RECORDS } from "./writer-shape.ts";

const [path = "", name = "", batches = "0", tasks = "own"] = process.argv.slice(2);

const store = await open();
for (let batch = 0; batch < Number(batches); batch += 1) {
  const verdicts = await store.write(Array.from({ length: BATCH_PAGES }, (_, page) => pageOf(batch, page)));
  // Written synchronously: every printed batch was confirmed, even if the process is killed now.
  writeSync(1, `${batch} ${verdicts.join(",")}\n`);
}
await store.close();

async function open(): Promise<Store> {
  if (!isPostgresUrl(path)) return openSqliteStore(path, { busyMs: 30_000 });
  const { openPostgresStore } = await import("../../../src/store/postgres/open-postgres-store.ts");
  return openPostgresStore(path, STORE_DEPS, { retryForMs: 30_000 });
}

function pageOf(batch: number, page: number) {
  const taskId = tasks === "shared" ? String(page) : `${name}-${batch}-${page}`;
  return aPageWrite({
    taskId,
    token: tasks === "shared" ? 1 + batch : 1,
    records: Array.from({ length: PAGE_RECORDS }, (_, n) => ({ name, batch, n, filler: "x".repeat(4000) })),
  });
}
