/**
 * A fleet crawls a site behind a login while its workers and Redis are killed: a POST-only API whose pages name the
 * next cursor, pages of items behind a cookie wall, and sessions that the site ends. The site judges the requests.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { jsonLines } from "../e2e/cli.ts";
import { type Fleet, newFleet } from "../e2e/fleet/fleet.ts";
import { findRedisObstacle, startRedis } from "../services/redis.ts";
import { type LoginSite, startLoginSite } from "../site/login-site.ts";
import { type SeededRandom, seededRandom } from "./seeded-random.ts";

const SEED = Number(process.env.TRAWL_SEED ?? 1 + Math.floor(Math.random() * 1e6));
/** `TRAWL_PAGES=2000 npx vitest run test/chaos/sessions.test.ts` runs longer. */
const ITEMS = Number(process.env.TRAWL_PAGES ?? 300);
/** From this number of items on, there are more kills and more ends of sessions. */
const MANY = 1_000;
const WORKERS = 3;
const KILLS = Math.max(4, Math.round(ITEMS / 200));
const ENV = { SHOP_USER: "ann", SHOP_PASSWORD: "canary-password", TRAWL_SECRETS: "env:SHOP_*", TRAWL_LEASE: "6s" };
/** The clock of the site advances with each request, so that a session of 30 minutes lasts for a sixth of the items. */
const SESSION_MS = 30 * 60_000;
const REQUEST_MS = SESSION_MS / Math.ceil(ITEMS / 6);
const PER_SITE = 8;
/** Requests of all workers at once. The site does not end a session again while they are repeated after a login. */
const IN_FLIGHT = WORKERS * PER_SITE;
/** The site ends a session about this often before its time. */
const RANDOM_ENDS = ITEMS >= MANY ? 12 : 4;
const TEST_MS = 900_000;

const obstacle = findRedisObstacle("redis-server");
if (obstacle !== undefined) console.warn(`SKIPPED: sessions of a fleet (${obstacle})`);

it.skipIf(obstacle !== undefined)(
  `a session logs in once per expiry, and no page is lost when workers and Redis are killed (seed ${SEED})`,
  async () => {
    const random = seededRandom(SEED);
    const redis = await startRedis({ appendonly: "always" });
    onTestFinished(() => redis.stop());
    const site = await siteOf(random);
    const fleet = await newFleet({ fresh: async () => ({ TRAWL_BROKER: redis.url }), missing: {} });
    writeFileSync(join(fleet.cwd, "spider.mjs"), spiderOf(site.url));
    const { id } = await fleet.submit(["spider.mjs"]);
    const workers = await Promise.all(Array.from({ length: WORKERS }, () => startWorker(fleet)));

    let killedLogins = 0;
    for (let kill = 1; kill <= KILLS; kill++) {
      await site.waitForRequests(Math.floor((ITEMS * kill) / (KILLS + 1)));
      const isInLogin = ITEMS >= MANY && kill % 4 === 3;
      if (isInLogin) await Promise.race([site.waitForLogin(), site.waitForRequests(ITEMS)]);
      // During a login, all workers are killed: the test does not know which one logs in.
      const one = random.between(0, WORKERS - 1);
      const killed = isInLogin ? [...workers.keys()] : [one];
      for (const nth of killed) workers[nth]?.kill("SIGKILL");
      for (const nth of killed) await workers[nth]?.ended;
      if (site.isLoginOpen()) killedLogins += 1;
      if (kill % 4 === 2) await redis.restart();
      await Promise.all(
        killed.map(async (nth) => {
          workers[nth] = await startWorker(fleet);
        }),
      );
    }
    await site.waitForRequests(ITEMS);
    const job = await fleet.poll(
      () => fleet.job(id),
      ({ state }) => state !== "running",
    );
    const records = jsonLines((await fleet.run(["records", id])).stdout) as { title: string }[];

    const figures = { logins: site.logins(), expired: site.expired(), unused: site.unused(), killedLogins };
    console.log(JSON.stringify({ seed: SEED, ...figures, walled: site.walled(), requests: site.log.length }));
    expect(job).toMatchObject({ state: "finished", counts: { dead: 0 } });
    expect(records.map(({ title }) => title).sort()).toEqual(
      Array.from({ length: ITEMS }, (_, n) => `item ${n}`).sort(),
    );
    expect(site.anonymous()).toEqual([]);
    expect(site.wrongPasswords()).toBe(0);
    expect(site.walled()).toBeGreaterThan(0);
    // A worker that is killed during a login cannot store it, so another worker logs in again.
    expect(figures.logins).toBeLessThanOrEqual(figures.expired + 1 + killedLogins);
  },
  TEST_MS,
);

async function siteOf(random: SeededRandom): Promise<LoginSite> {
  const site: LoginSite = await startLoginSite({
    ...{ user: ENV.SHOP_USER, password: ENV.SHOP_PASSWORD, items: ITEMS, hasWall: true },
    sessionMs: SESSION_MS,
    now: () => site.log.length * REQUEST_MS,
    endsNow: (requests) => requests > IN_FLIGHT && random.next() < RANDOM_ENDS / ITEMS,
  });
  onTestFinished(() => site.close());
  return site;
}

async function startWorker({ start }: Fleet) {
  const worker = start(["worker", "--json", "--pool", "solo"], { env: ENV, hangsAfterMs: TEST_MS });
  await worker.prints(/"worker\.started"/);
  return worker;
}

/** Follows the cursor of the API, and the page of each item. */
function spiderOf(url: string): string {
  return `export default {
    name: "items",
    start: [{ url: "${url}/api/items", json: {} }],
    politeness: { rate: "100/s", perSite: ${PER_SITE}, robots: false, adaptive: false },
    login: {
      url: "${url}/login",
      fields: { csrf: "input[name=csrf]@value" },
      form: { user: "env:SHOP_USER", password: "env:SHOP_PASSWORD" },
      check: { cookie: "sid" },
      expired: { status: [401], redirect: "**/login*" },
    },
    page({ html, url, follow }) {
      const { ids, next } = JSON.parse(html);
      for (const id of ids) follow("/item/" + id, { to: "item" });
      if (next !== null) follow(url, { json: { cursor: next } });
    },
    handlers: { item({ $, emit }) { emit({ title: $("h1").text() }); } },
  };`;
}
