#!lua flags=allow-oom
-- list-ended: ended jobs, oldest end first, on their owner shard.                            Cost: O(log n + max).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 max   3 ended before
-- Reply: now, then number and fields of each (see lib/job-view).
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/job-view.lua
local reply = { exact(time_of(ARGV[1])) }
for _, member in ipairs(redis.call("ZRANGEBYSCORE", key("ended"), "-inf", "(" .. ARGV[3], "LIMIT", 0, ARGV[2])) do
  add_view(reply, job_numbered(number_in(member)))
end
return reply
