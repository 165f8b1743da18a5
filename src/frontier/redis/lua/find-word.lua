#!lua flags=allow-oom
-- find-word: what a job's home shard has decided about it, for the other shards to follow.                 Cost: O(1).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 job id or ""   3 job number, if no id
-- Reply: now, job id, generation, state, sealed, stopped, deadline, finished, priority, interval, burst, at once; "" for
--        what is not there.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua
local WORD = { "generation", "state", "sealed", "stopped", "deadline", "finished", "priority", "interval", "burst", "per_site" }
local reply = { exact(time_of(ARGV[1])) }
local job
if ARGV[2] == "" then job = job_numbered(tonumber(ARGV[3])) else job = job_named(ARGV[2]) end
if not job then return reply end
reply[2] = job.id
for _, name in ipairs(WORD) do
  local word = job[name]
  reply[#reply + 1] = word and (type(word) == "number" and exact(word) or word) or ""
end
return reply
