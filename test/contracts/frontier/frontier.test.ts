import { expect, it } from "vitest";
import { FRONTIER_CLAUSES } from "../../../src/frontier/frontier.ts";
import { describeFrontier, expectCovered } from "./describe-frontier.ts";
import { modelBackend } from "./model-backend.ts";
import { createSqliteBackend } from "./sqlite-backend.ts";

const model = describeFrontier("the model", modelBackend);
const sqlite = describeFrontier("SQLite", createSqliteBackend());

it("every clause has a test on SQLite, and on the model unless a gap is declared", () => {
  expectCovered(model);
  expectCovered(sqlite);
  expect(FRONTIER_CLAUSES.filter((clause) => !sqlite.tested.has(clause))).toEqual([]);
});
