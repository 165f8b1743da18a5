import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { findRedisObstacle, type RedisServer, startRedis } from "../../services/redis.ts";
import { lastJson } from "../cli.ts";
import { linkedSite, originOf } from "../sites.ts";
import { describeFleet } from "./describe-fleet.ts";
import { FAST, type FleetBroker, newFleet } from "./fleet.ts";

const obstacle = findRedisObstacle("redis-server");

describe.skipIf(obstacle !== undefined)(`with Redis (${obstacle ?? "available"})`, () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  const broker: FleetBroker = {
    fresh: async () => ({ TRAWL_BROKER: redis.url, TRAWL_BROKER_PREFIX: `t${randomBytes(6).toString("hex")}` }),
    missing: { TRAWL_BROKER: "redis://fleet:s3cret@127.0.0.1:1" },
  };
  describeFleet("Redis", broker);

  describe("a broker that is lost", () => {
    it("ends a worker with 3 and the reason after TRAWL_BROKER_RETRY_FOR", async () => {
      const ownRedis = await startRedis();
      const lost = { ...broker, fresh: async () => ({ TRAWL_BROKER: ownRedis.url, TRAWL_BROKER_RETRY_FOR: "500ms" }) };
      const [fleet, site] = [await newFleet(lost), await originOf({ "/": "<h1>home</h1>" })];
      const worker = await fleet.worker();
      await fleet.submit([`${site.url}/`, "--ignore-robots", ...FAST]);
      await site.waitForRequests(1);
      await ownRedis.stop();

      const end = await worker.ended;

      expect(end).toMatchObject({ code: 3, stdout: "" });
      expect(end.stderr).toMatch(/^trawl: BROKER_UNREACHABLE: /m);
    });

    it("does not block a submission that is stopped: the submission prints the job", async () => {
      const stuck = await startRedis();
      onTestFinished(() => stuck.stop());
      const fleet = await newFleet({ ...broker, fresh: async () => ({ TRAWL_BROKER: stuck.url }) });
      writeFileSync(join(fleet.cwd, "urls.txt"), "http://127.0.0.1:9/1\nhttp://127.0.0.1:9/2\n");
      const submitting = fleet.start(["submit", "urls.txt", "--json"], { env: { TRAWL_MAX_PENDING: "1" } });
      await submitting.prints(/1 URL processed; the broker is full/);
      process.kill(stuck.pid, "SIGSTOP");
      const opening = fleet.start(["submit", "urls.txt"]);
      await Promise.all([submitting, opening].map((running) => running.prints(/"broker\.lost"/)));
      submitting.kill("SIGINT");
      opening.kill("SIGINT");

      const end = await submitting.ended;
      expect(end.code).toBe(130);
      const { id, ...rest } = lastJson<{ id: string }>(end);
      expect(rest).toMatchObject({ accepted: 1, taken: 1, interrupted: true });
      expect(end.stderr).toMatch(new RegExp(`does not respond.* 1 URL of job ${id}[^]*trawl submit --resume ${id} `));
      const none = await opening.ended;
      expect(none).toMatchObject({ code: 130, stdout: "" });
      expect(none.stderr).toMatch(/the broker does not respond; nothing was submitted/);
    });

    it("causes no loss if it returns in time", async () => {
      const durable = await startRedis({ appendonly: "always" });
      try {
        const settings = { ...broker, fresh: async () => ({ TRAWL_BROKER: durable.url }) };
        const [fleet, site] = [await newFleet(settings), await linkedSite({ pages: 80 })];
        const worker = await fleet.worker();
        const { id } = await fleet.submit([`${site.url}/`, "--rate", "100/s", "--per-site", "8"]);
        await site.waitForRequests(20);
        await durable.restart();

        const job = await fleet.poll(
          () => fleet.job(id),
          ({ state }) => state === "finished",
        );

        expect(job).toMatchObject({ counts: { done: 80, dead: 0 } });
        worker.kill("SIGTERM");
        const end = await worker.ended;
        expect(end.code).toBe(0);
        expect(lastJson(end)).toMatchObject({ pages: 80 });
      } finally {
        await durable.stop();
      }
    });
  });
});
