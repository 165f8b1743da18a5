/** Counts crashes in the rows or keys of a broker. Reads them directly, not through Trawl. */
import { readFileSync } from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import { join } from "node:path";
import { withRedis } from "../../services/redis-client.ts";

type Sqlite = {
  DatabaseSync: new (
    path: string,
    options: { readOnly: boolean },
  ) => { prepare(sql: string): { get(): unknown }; close(): void };
};

/** The configuration of the workers: the broker is a file in `folder`, unless `env` names a Redis. */
export type BrokerLocation = { folder: string; env: Readonly<Record<string, string>> };

const ON_REDIS = readFileSync(new URL("./count-crashes.lua", import.meta.url), "utf8");

/** The number of tasks whose worker has crashed. The current lease of a task does not count as a crash. */
export async function countCrashes({ folder, env }: BrokerLocation): Promise<number> {
  const { TRAWL_BROKER: url, TRAWL_BROKER_PREFIX: prefix = "trawl" } = env;
  if (url === undefined) return countInFile(join(folder, ".trawl/broker.db"));
  return withRedis(Number(new URL(url).port), async (redis) => Number(await redis.eval(ON_REDIS, 1, `${prefix}:{0}`)));
}

function countInFile(file: string): number {
  const require = createRequire(import.meta.url);
  const { DatabaseSync } = require(isBuiltin("node:sqlite") ? "node:sqlite" : "@photostructure/sqlite") as Sqlite;
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    const row = db.prepare("SELECT count(*) AS n FROM tasks WHERE crashes > iif(state = 'leased', 1, 0)").get();
    return Number((row as { n: number | bigint }).n);
  } finally {
    db.close();
  }
}
