/** Looks into the rows and keys of a broker itself: what the program says of it is not asked. */
import { readFileSync } from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import { join } from "node:path";
import { withRedis } from "../../services/redis-talk.ts";

type Sqlite = {
  DatabaseSync: new (
    path: string,
    options: { readOnly: boolean },
  ) => { prepare(sql: string): { get(): unknown }; close(): void };
};

/** As workers are told of it: a folder with the file in it, unless the environment names a Redis. */
export type BrokerPlace = { folder: string; env: Readonly<Record<string, string>> };

const ON_REDIS = readFileSync(new URL("./count-crashes.lua", import.meta.url), "utf8");

/** Tasks that count a crash from before the lease they may be in: somebody died with them. */
export async function countCrashes({ folder, env }: BrokerPlace): Promise<number> {
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
