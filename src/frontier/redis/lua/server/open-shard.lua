#!lua flags=allow-oom
-- open-shard: create a shard that does not exist, and return its schema (F19).                              Cost: O(1).
-- KEYS  1 the shard
-- ARGV  1 schema version   2 the oldest version that can use the data of this one   3 index of the shard   4 shards
-- Reply: now, then as stored: schema, oldest version that can work with it, number of shards.
-- @include lib/base.lua
if redis.call("HEXISTS", key("meta"), "schema") == 0 then
  redis.call("HSET", key("meta"), "schema", ARGV[1], "readable", ARGV[2], "shard", ARGV[3], "shards", ARGV[4],
    "next_task", 1, "next_served", 1, "next_site", 1, "next_lane", 1, "next_job", 0, "next_scope", 0, "pending", 0,
    "run", string.match(redis.call("INFO", "server"), "run_id:(%w+)"))
end
local stored = redis.call("HMGET", key("meta"), "schema", "readable", "shards")
return { exact(time_of("")), stored[1] or "", stored[2] or "", stored[3] or "" }
