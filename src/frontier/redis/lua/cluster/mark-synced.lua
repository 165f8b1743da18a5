#!lua flags=allow-oom
-- mark-synced: record that all shards have applied this generation of a job's state, unless there is a later one.
-- KEYS  1 the shard                                                                                         Cost: O(1).
-- ARGV  1 now or ""   2 job id   3 generation
-- Reply: now.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua
local job = job_named(ARGV[2])
if job and job.generation == tonumber(ARGV[3]) then redis.call("SREM", key("untold"), job.n) end
return { exact(time_of(ARGV[1])) }
