/** A worker that holds terms at more sites than one script takes (F17). */
import { afterAll, beforeAll, expect, it } from "vitest";
import { MAX_BATCH } from "../../src/frontier/frontier.ts";
import { aJob, aRequest, aTask, returnedAfter, settleAll, submit } from "../contracts/frontier/makers.ts";
import { type RedisServer, startRedis } from "../services/redis.ts";
import { createStage } from "./stage.ts";

const SITES = MAX_BATCH + 100;

let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

it("F17 returns more terms than MAX_BATCH with one lease call", async () => {
  const frontier = await createStage(redis.url).open();
  const tasks = Array.from({ length: SITES }, (_, nth) => aTask(`https://site-${nth}.test/`));
  await submit(frontier, aJob({ policy: { intervalMs: 60_000, burst: 2, perSite: 2 } }), tasks);
  const answers = [await frontier.lease(aRequest({ max: 500 })), await frontier.lease(aRequest({ max: 500 }))];
  const terms = answers.flatMap((answer) => answer.terms);
  expect(terms).toHaveLength(SITES);
  for (const { grants } of answers) await settleAll(frontier, grants);
  await frontier.enqueue(
    "job",
    tasks.map(({ url }) => aTask(`${url}more`)),
  );
  expect(await frontier.lease(aRequest())).toMatchObject({ grants: [], terms: [] });

  // One request of the burst was sent, so each site may be requested again at once.
  const returned = terms.map((term) => returnedAfter(term, [term.startsAt]));
  const { grants } = await frontier.lease(aRequest({ max: 500, returned }));

  expect(grants).toHaveLength(500);
  expect((await frontier.lease(aRequest({ max: 500 }))).grants).toHaveLength(SITES - 500);
});
