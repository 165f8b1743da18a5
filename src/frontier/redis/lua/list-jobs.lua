#!lua flags=allow-oom
-- list-jobs: jobs, newest first.                                                             Cost: O(log n + `most`).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 most   3 made before, or "+inf"
-- Reply: now, then number and view of each, see lib/view.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/view.lua
local before = ARGV[3] == "+inf" and ARGV[3] or "(" .. ARGV[3]
local reply = { exact(time_of(ARGV[1])) }
for _, member in ipairs(redis.call("ZREVRANGEBYSCORE", key("job-order"), before, "-inf", "LIMIT", 0, ARGV[2])) do
  add_view(reply, job_numbered(number_in(member)))
end
return reply
