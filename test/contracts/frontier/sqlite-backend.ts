import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqliteFrontier } from "../../../src/frontier/sqlite/open.ts";
import { openDatabase } from "../../../src/runtime/sqlite.ts";
import { createManualClock, type ManualClock } from "../../model/manual-clock.ts";
import { type AnyFrontier, type Backend, type Broker, START_AT } from "./backend.ts";
import { countLeaseWork, listUnboundedPlans } from "./sqlite-costs.ts";

const NEWER_VERSION = 999;

/** SQLite, with a new file in its own folder for each broker. */
export function createSqliteBackend(): Backend {
  const folders: string[] = [];
  const handles: AnyFrontier[] = [];
  const files = new Map<Broker, { path: string; maxPending: number }>();

  function newPath(): string {
    const folder = mkdtempSync(join(tmpdir(), "trawl-frontier-"));
    folders.push(folder);
    return join(folder, "broker.db");
  }

  function openFile(path: string, clock: ManualClock, maxPending: number): AnyFrontier {
    const frontier = openSqliteFrontier(path, { clock }, { maxPending, busyMs: 5000, pollMs: 1e9 });
    handles.push(frontier);
    return frontier;
  }

  return {
    async open({ maxPending }) {
      const path = newPath();
      const clock = createManualClock(START_AT);
      const broker = { clock, frontier: openFile(path, clock, maxPending) };
      files.set(broker, { path, maxPending });
      return broker;
    },
    features: {
      sharing: {
        async another(broker) {
          const { path, maxPending } = files.get(broker) ?? { path: newPath(), maxPending: 0 };
          return openFile(path, broker.clock, maxPending);
        },
      },
      versions: {
        async openNewer() {
          const path = newPath();
          await openFile(path, createManualClock(START_AT), 1).close();
          const db = openDatabase(path, { durability: "normal", busyMs: 1000, pageBytes: 4096 });
          db.exec(`PRAGMA user_version = ${NEWER_VERSION}`);
          db.close();
          return openFile(path, createManualClock(START_AT), 1);
        },
        async openDamaged() {
          const path = newPath();
          writeFileSync(path, "this is not a database file. ".repeat(100));
          return openFile(path, createManualClock(START_AT), 1);
        },
      },
      costs: {
        countLeaseWork: (held) => countLeaseWork(newPath(), held),
        listUnboundedPlans: async () => listUnboundedPlans(newPath()),
      },
    },
    async cleanUp() {
      for (const frontier of handles.splice(0)) await frontier.close();
      for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
      files.clear();
    },
  };
}
