/** A process that opens every file it is sent the path of, writes to it, and says how that went. */
import { openDatabase } from "../../../src/runtime/sqlite.ts";

process.on("message", (path: string) => {
  try {
    const db = openDatabase(path, { durability: "normal", busyMs: 30_000, pageBytes: 4096 });
    db.write(() => db.exec("CREATE TABLE IF NOT EXISTS one (name)"));
    db.close();
    process.send?.("opened");
  } catch (error) {
    process.send?.(String(error));
  }
});
process.send?.("ready");
