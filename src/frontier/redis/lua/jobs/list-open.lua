#!lua flags=allow-oom
-- list-open: jobs that have not ended, newest first, on their owner shard. If an older version ended a job without
-- removing it from the index, this script removes it.                                             Cost: O(log n + max).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 max   3 created before, or "+inf"
-- Reply: now, then number and fields of each (see lib/job-view), then the number of jobs removed from the index.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/job-view.lua
local before = ARGV[3] == "+inf" and ARGV[3] or "(" .. ARGV[3]
local reply, ended = { exact(time_of(ARGV[1])) }, 0
for _, member in ipairs(redis.call("ZREVRANGEBYSCORE", key("open"), before, "-inf", "LIMIT", 0, ARGV[2])) do
  local job = job_numbered(number_in(member))
  if job and not job.finished then add_view(reply, job)
  else ended = ended + redis.call("ZREM", key("open"), member) end
end
reply[#reply + 1] = ended
return reply
