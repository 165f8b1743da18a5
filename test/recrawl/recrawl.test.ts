import { afterAll, beforeAll, describe } from "vitest";
import { preparePostgres } from "../contracts/store/postgres-fixture.ts";
import { findPostgresObstacle, type PostgresServer, startPostgres } from "../services/postgres.ts";
import { findRedisObstacle, type RedisServer, startRedis } from "../services/redis.ts";
import { describeRecrawl } from "./describe-recrawl.ts";

describeRecrawl("sqlite", () => ({}));

const obstacle = findPostgresObstacle() ?? findRedisObstacle("redis-server");

describe.skipIf(obstacle !== undefined)(`with the servers of a fleet (${obstacle ?? "available"})`, () => {
  let store: PostgresServer;
  let broker: RedisServer;
  beforeAll(async () => {
    [store, broker] = await Promise.all([startPostgres(), startRedis()]);
  });
  afterAll(() => Promise.all([store.stop(), broker.stop()]));

  let worlds = 0;
  describeRecrawl("redis and postgres", () => {
    worlds += 1;
    return { store: preparePostgres(store).url, broker: broker.url, brokerPrefix: `world${worlds}` };
  });
});
