/** A fleet crawls a site behind a login while its workers and Redis are killed. The site judges the requests. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { jsonLines } from "../e2e/cli.ts";
import { newFleet } from "../e2e/fleet/fleet.ts";
import { findRedisObstacle, startRedis } from "../services/redis.ts";
import { startLoginSite } from "../site/login-site.ts";
import { seededRandom } from "./seeded-random.ts";

const SEED = Number(process.env.TRAWL_SEED ?? 1 + Math.floor(Math.random() * 1e6));
/** `TRAWL_PAGES=2000 npx vitest run test/chaos/sessions.test.ts` runs longer. */
const ITEMS = Number(process.env.TRAWL_PAGES ?? 300);
const WORKERS = 3;
const KILLS = 4;
const ENV = { SHOP_USER: "ann", SHOP_PASSWORD: "canary-password", TRAWL_SECRETS: "env:SHOP_*", TRAWL_LEASE: "6s" };

const obstacle = findRedisObstacle("redis-server");
if (obstacle !== undefined) console.warn(`SKIPPED: sessions of a fleet (${obstacle})`);

it.skipIf(obstacle !== undefined)(
  `a session logs in once per expiry, and no page is lost when workers and Redis are killed (seed ${SEED})`,
  async () => {
    const random = seededRandom(SEED);
    const redis = await startRedis({ appendonly: "always" });
    onTestFinished(() => redis.stop());
    const site = await startLoginSite({
      ...{ user: ENV.SHOP_USER, password: ENV.SHOP_PASSWORD, items: ITEMS },
      sessionRequests: Math.ceil(ITEMS / 4),
    });
    onTestFinished(() => site.close());
    const fleet = await newFleet({ fresh: async () => ({ TRAWL_BROKER: redis.url }), missing: {} });
    writeFileSync(join(fleet.cwd, "job.json"), JSON.stringify(jobOf(site.url)));
    const { id } = await fleet.submit(["job.json"]);
    const workers = await Promise.all(Array.from({ length: WORKERS }, () => fleet.worker(["--pool", "solo"], ENV)));

    for (let kill = 1; kill <= KILLS; kill++) {
      await site.waitForRequests(Math.floor((ITEMS * kill) / (KILLS + 1)));
      const nth = random.between(0, WORKERS - 1);
      workers[nth]?.kill("SIGKILL");
      await workers[nth]?.ended;
      if (kill === 2) await redis.restart();
      workers[nth] = await fleet.worker(["--pool", "solo"], ENV);
    }
    const job = await fleet.poll(
      () => fleet.job(id),
      ({ state }) => state !== "running",
    );
    const records = jsonLines((await fleet.run(["records", id])).stdout) as { title: string }[];

    const figures = { logins: site.logins(), expired: site.expired(), requests: site.log.length };
    console.log(JSON.stringify({ seed: SEED, ...figures }));
    expect(job).toMatchObject({ state: "finished", counts: { done: ITEMS, dead: 0 } });
    expect(records.map(({ title }) => title).sort()).toEqual(
      Array.from({ length: ITEMS }, (_, n) => `item ${n}`).sort(),
    );
    expect(site.anonymous()).toEqual([]);
    expect(site.wrongPasswords()).toBe(0);
    // A worker that is killed during a login cannot store it, so the next worker logs in again.
    expect(figures.logins).toBeLessThanOrEqual(figures.expired + 1 + KILLS);
  },
  400_000,
);

function jobOf(url: string): object {
  return {
    urls: Array.from({ length: ITEMS }, (_, id) => `${url}/item/${id}`),
    extract: { title: "h1" },
    politeness: { rate: "100/s", perSite: 8, robots: false, adaptive: false },
    login: {
      url: `${url}/login`,
      fields: { csrf: "input[name=csrf]@value" },
      form: { user: "env:SHOP_USER", password: "env:SHOP_PASSWORD" },
      check: { cookie: "sid" },
      expired: { redirect: "**/login*" },
    },
  };
}
