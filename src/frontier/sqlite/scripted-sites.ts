/** Sites whose pages show nothing without a browser, remembered for every worker of the broker. */
import { type Database, prepareAll } from "../../runtime/sqlite.ts";

export type ScriptedSites = { mark(site: string, forMs: number): void; has(site: string): boolean };

type Names = "markScripted" | "findScripted" | "forgetScripted";

export function createScriptedSites({ db, now }: { db: Database; now: () => number }): ScriptedSites {
  const sql = prepareAll<Names>(db, new URL("./sql/scripted-sites.sql", import.meta.url));
  return {
    mark: (site, forMs) =>
      db.write(() => {
        sql.forgetScripted.run(now());
        sql.markScripted.run(site, now() + forMs);
      }),
    has: (site) => sql.findScripted.get(site, now()) !== undefined,
  };
}
