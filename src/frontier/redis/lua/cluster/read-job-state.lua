#!lua flags=allow-oom
-- read-job-state: a job's state and settings on its owner shard, for the other shards to apply.             Cost: O(1).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 job id or ""   3 job number, if no id
-- Reply: now, job id, generation, state, sealed, stopped, deadline, finished, priority, interval, burst, per site; ""
--        for fields without a value.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua
local STATE_FIELDS = { "generation", "state", "sealed", "stopped", "deadline", "finished", "priority", "interval", "burst", "per_site" }
local reply = { exact(time_of(ARGV[1])) }
local job
if ARGV[2] == "" then job = job_numbered(tonumber(ARGV[3])) else job = job_named(ARGV[2]) end
if not job then return reply end
reply[2] = job.id
for _, name in ipairs(STATE_FIELDS) do
  local value = job[name]
  reply[#reply + 1] = value and (type(value) == "number" and exact(value) or value) or ""
end
return reply
