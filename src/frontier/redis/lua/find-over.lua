#!lua flags=allow-oom
-- find-over: of the next jobs in order of their making, those that have nothing left here and have not ended: whoever
-- was to end them may have died.                                                           Cost: O(1) a job, `most` jobs.
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 how many jobs to leave out   3 most
-- Reply: now, how many were looked at, how many are over, their ids, then ids of those that have not ended and are not
--        found among such here: all of other shards, and what an older version has made.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/slots.lua lib/lanes.lua lib/wake.lua lib/save.lua
step.now = time_of(ARGV[1])
local order = redis.call("ZRANGE", key("job-order"), ARGV[2], ARGV[2] + ARGV[3] - 1)
local over, unlisted = {}, {}
for _, member in ipairs(order) do
  local job = job_numbered(number_in(member))
  if is_over(job) then over[#over + 1] = job.id end
  if not job.finished and not redis.call("ZSCORE", key("open"), member) then unlisted[#unlisted + 1] = job.id end
end
local reply = { exact(step.now), #order, #over }
for _, id in ipairs(over) do reply[#reply + 1] = id end
for _, id in ipairs(unlisted) do reply[#reply + 1] = id end
return reply
