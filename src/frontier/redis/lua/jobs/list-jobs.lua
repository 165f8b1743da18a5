#!lua flags=allow-oom
-- list-jobs: jobs, newest first.                                                             Cost: O(log n + max).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 max   3 created before, or "+inf"
-- Reply: now, then number and fields of each (see lib/job-view).
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/job-view.lua
local before = ARGV[3] == "+inf" and ARGV[3] or "(" .. ARGV[3]
local reply = { exact(time_of(ARGV[1])) }
for _, member in ipairs(redis.call("ZREVRANGEBYSCORE", key("job-order"), before, "-inf", "LIMIT", 0, ARGV[2])) do
  add_view(reply, job_numbered(number_in(member)))
end
return reply
