/** A batch of submitted URLs leaves the same data in Redis as the same URLs submitted one by one. */
import { afterAll, beforeAll, expect, it } from "vitest";
import type { NewTask } from "../../src/domain/task.ts";
import { aJob, aTask, submit } from "../contracts/frontier/makers.ts";
import { type RedisServer, startRedis } from "../services/redis.ts";
import { withRedis } from "../services/redis-client.ts";
import { createStage } from "./stage.ts";

let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

/** Every key but receipts, with its unpacked value. */
const DUMP = `
local function text_of(value)
  if type(value) == "number" then return string.format("%.17g", value) end
  if type(value) ~= "table" then return (string.gsub(tostring(value), "[^ -~]", string.byte)) end
  local parts = {}
  for nth = 1, #value do parts[nth] = text_of(value[nth]) end
  return "[" .. table.concat(parts, " ") .. "]"
end
local function read(key, kind)
  if kind == "list" then return redis.call("LRANGE", key, 0, -1) end
  if kind == "set" then return redis.call("SMEMBERS", key) end
  if kind == "zset" then return redis.call("ZRANGE", key, 0, -1, "WITHSCORES") end
  if kind == "string" then return cmsgpack.unpack(redis.call("GET", key)) end
  local fields, values = {}, redis.call("HGETALL", key)
  for nth = 1, #values, 2 do
    local value = string.find(key, ":job-sites:", 1, true) and cmsgpack.unpack(values[nth + 1]) or values[nth + 1]
    fields[#fields + 1] = values[nth] .. "=" .. text_of(value)
  end
  table.sort(fields)
  return fields
end
local found = {}
for _, key in ipairs(redis.call("KEYS", KEYS[1] .. ":*")) do
  if not string.find(key, ":receipt:", 1, true) then
    found[#found + 1] = string.sub(key, #KEYS[1] + 2) .. " " .. text_of(read(key, redis.call("TYPE", key).ok))
  end
end
table.sort(found)
return found
`;
const TIME = /\b[1-9]\d{12}(\.\d+)?\b/g;

/** The data after each part was submitted with its own call. */
async function dataAfter(parts: readonly (readonly NewTask[])[]): Promise<string[]> {
  const stage = createStage(redis.url);
  const frontier = await stage.open();
  await submit(frontier, aJob({ id: "known" }), [aTask("https://known.test/")]);
  await frontier.createJob(aJob());
  for (const part of parts) await frontier.enqueue("job", part);
  const dump = await withRedis(redis.port, (client) => client.eval(DUMP, 1, `${stage.prefix}:{0}`));
  return (dump as string[]).map((entry) => entry.replace(TIME, "TIME"));
}

function atSites(count: number): NewTask[] {
  return Array.from({ length: count }, (_, nth) => [
    aTask(`https://site-${nth}.test/`),
    aTask(`http://site-${nth}.test/${"long/".repeat(nth)}`),
  ]).flat();
}

async function expectSameData(tasks: readonly NewTask[]): Promise<void> {
  const together = await dataAfter([tasks]);
  expect(together.some((entry) => entry.startsWith("site:"))).toBe(true);
  expect(together).toEqual(await dataAfter(tasks.map((task) => [task])));
}

it("F9 stores the same for new sites, a known site and repeated URLs", async () => {
  const known = aTask("https://known.test/page");
  await expectSameData([known, ...atSites(150), ...atSites(3), known]);
});

it("F9 stores the same for sites whose names have more than 31 or 255 characters", async () => {
  const named = (length: number) => aTask(`https://${"n".repeat(length)}.test/`);
  await expectSameData([named(3), named(26), named(27), named(250), named(251), named(300)]);
});

it("F9 stores the same for new sites on several queues and priorities", async () => {
  const tasks = atSites(6).map((task, nth) => ({
    ...task,
    priority: nth % 3,
    queue: nth % 2 === 0 ? "fetch" : "slow",
  }));
  await expectSameData(tasks);
});

it("F9 stores the same for a new site whose offline site has tasks", async () => {
  const offline = { ...aTask("https://site-1.test/parsed"), site: "#site-1.test" };
  const [together, alone] = await Promise.all([
    dataAfter([[offline], atSites(4)]),
    dataAfter([[offline], ...atSites(4).map((task) => [task])]),
  ]);
  expect(together).toEqual(alone);
  await expectSameData([...atSites(2), offline]);
});
