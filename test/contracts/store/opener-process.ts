/** A process that receives paths, opens each file, writes to it, and sends back the result. */
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
