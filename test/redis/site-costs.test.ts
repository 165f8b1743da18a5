/** The cost of listing sites in Redis depends on the listed sites, not on all sites. Counts commands, not time. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { aJob, aTask, submit } from "../contracts/frontier/makers.ts";
import { type RedisServer, startRedis } from "../services/redis.ts";
import { withRedis } from "../services/redis-client.ts";
import { createStage } from "./stage.ts";

let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

const SITES = 600;
const nameOf = (nth: number) => `site-${String(nth).padStart(4, "0")}.test`;

/** How often each command was called, including calls in scripts. */
async function callsOf(run: () => Promise<unknown>): Promise<Map<string, number>> {
  await withRedis(redis.port, (client) => client.config("RESETSTAT"));
  await run();
  const stats = await withRedis(redis.port, (client) => client.info("commandstats"));
  return new Map([...stats.matchAll(/^cmdstat_(\w+)\S*:calls=(\d+)/gm)].map(([, name = "", n]) => [name, Number(n)]));
}

it("F17 reads only the listed sites, at most a hundred per script, however many have the same number of waiting tasks", async () => {
  const frontier = await createStage(redis.url, { shards: 4 }).open();
  const tasks = Array.from({ length: SITES }, (_, nth) => aTask(`https://${nameOf(SITES - 1 - nth)}/`));
  await submit(frontier, aJob(), tasks);

  const busy = await callsOf(async () => {
    const found = await frontier.listBusySites(8);
    expect(found.map(({ site }) => site)).toEqual(Array.from({ length: 8 }, (_, nth) => nameOf(nth)));
  });
  expect(busy.get("get"), "rows of sites").toBe(8);

  const listed = await callsOf(async () => expect(await frontier.listSites(SITES)).toHaveLength(SITES));
  expect(listed.get("get"), "rows of sites").toBe(SITES);
  expect(listed.get("evalsha"), "scripts").toBeGreaterThanOrEqual(SITES / 100);
  expect(listed.get("hscan"), "names that were read before").toBeUndefined();

  await frontier.enqueue("job", [aTask("https://a-new-one.test/")]);
  expect((await frontier.listSites(1)).map(({ site }) => site)).toEqual(["a-new-one.test"]);
});
