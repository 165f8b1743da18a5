#!lua flags=allow-oom
-- find-finished: read the next jobs in order of creation, and find those that have nothing left on this shard but have
-- not ended. The process that should have ended them may have crashed.               Cost: O(1) per job, `max` jobs.
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 number of jobs to skip   3 max
-- Reply: now, number of jobs read, number of empty jobs, their ids, then ids of jobs that have not ended and are not in
--        the `open` index of this shard: jobs owned by other shards, and jobs that an older version created.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/terms.lua lib/lanes.lua lib/wake-workers.lua lib/save.lua
tx.now = time_of(ARGV[1])
local order = redis.call("ZRANGE", key("job-order"), ARGV[2], ARGV[2] + ARGV[3] - 1)
local empty, unlisted = {}, {}
for _, member in ipairs(order) do
  local job = job_numbered(number_in(member))
  if is_empty(job) then empty[#empty + 1] = job.id end
  if not job.finished and not redis.call("ZSCORE", key("open"), member) then unlisted[#unlisted + 1] = job.id end
end
local reply = { exact(tx.now), #order, #empty }
for _, id in ipairs(empty) do reply[#reply + 1] = id end
for _, id in ipairs(unlisted) do reply[#reply + 1] = id end
return reply
