import { afterAll, beforeAll, describe } from "vitest";
import { preparePostgres } from "../contracts/store/postgres-site.ts";
import { findPostgresObstacle, type PostgresServer, startPostgres } from "../services/postgres.ts";
import { describeRecrawl } from "./describe-recrawl.ts";

describeRecrawl("sqlite", () => ({}));

const obstacle = findPostgresObstacle();

describe.skipIf(obstacle !== undefined)(`with PostgreSQL (${obstacle ?? "there is one"})`, () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  describeRecrawl("postgres", () => ({ store: preparePostgres(server).url }));
});
