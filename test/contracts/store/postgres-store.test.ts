/** All store contracts on a real PostgreSQL. */
import { afterAll, beforeAll, describe } from "vitest";
import { findPostgresObstacle, type PostgresServer, startPostgres } from "../../services/postgres.ts";
import { describeArchive } from "./describe-archive.ts";
import { describeAttempts } from "./describe-attempts.ts";
import { describeHistory } from "./describe-history.ts";
import { describeKeys } from "./describe-keys.ts";
import { describeMemories } from "./describe-memories.ts";
import { describeProcesses } from "./describe-processes.ts";
import { describeSchedules } from "./describe-schedules.ts";
import { describeStore } from "./describe-store.ts";
import { describeWebhooks } from "./describe-webhooks.ts";
import { preparePostgres } from "./postgres-fixture.ts";

const obstacle = findPostgresObstacle();
if (obstacle !== undefined) console.warn(`SKIPPED: the store on PostgreSQL: ${obstacle}`);

describe.skipIf(obstacle !== undefined)("on a real PostgreSQL", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  describeStore("postgres", async () => preparePostgres(server));
  describeAttempts("postgres", async () => preparePostgres(server));
  describeMemories("postgres", async () => preparePostgres(server));
  describeKeys("postgres", async () => preparePostgres(server));
  describeProcesses("postgres", async () => {
    const fixture = preparePostgres(server);
    return { ...fixture, path: fixture.url };
  });
  describeSchedules("postgres", async () => preparePostgres(server));
  describeWebhooks("postgres", async () => preparePostgres(server));
  describeArchive("postgres", async () => preparePostgres(server));
  describeHistory("postgres", async () => preparePostgres(server));
});
