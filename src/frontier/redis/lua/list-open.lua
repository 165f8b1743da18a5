#!lua flags=allow-oom
-- list-open: jobs that have not ended, newest first; on their home shard. Those that an older version has ended meanwhile
-- are taken out.                                                                             Cost: O(log n + `most`).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 most   3 made before, or "+inf"
-- Reply: now, then number and view of each, see lib/view; then how many were taken out: there may be more in their place.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/view.lua
local before = ARGV[3] == "+inf" and ARGV[3] or "(" .. ARGV[3]
local reply, ended = { exact(time_of(ARGV[1])) }, 0
for _, member in ipairs(redis.call("ZREVRANGEBYSCORE", key("open"), before, "-inf", "LIMIT", 0, ARGV[2])) do
  local job = job_numbered(number_in(member))
  if job and not job.finished then add_view(reply, job)
  else ended = ended + redis.call("ZREM", key("open"), member) end
end
reply[#reply + 1] = ended
return reply
