#!lua flags=allow-oom
-- find-forgotten: a forgotten job that still has data on this shard.                                      Cost: O(1).
-- KEYS  1 the shard
-- ARGV  1 now or ""
-- Reply: now, then its number and its id, if there is one.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua
local now = exact(time_of(ARGV[1]))
local n = redis.call("ZRANGE", key("forgotten"), 0, 0)[1]
local job = n and job_numbered(tonumber(n))
if job then return { now, n, job.id } end
return { now }
