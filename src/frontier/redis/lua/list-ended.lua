#!lua flags=allow-oom
-- list-ended: jobs by when they ended, the longest ago first; on their home shard.           Cost: O(log n + `most`).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 most   3 ended before
-- Reply: now, then number and view of each, see lib/view.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/view.lua
local reply = { exact(time_of(ARGV[1])) }
for _, member in ipairs(redis.call("ZRANGEBYSCORE", key("ended"), "-inf", "(" .. ARGV[3], "LIMIT", 0, ARGV[2])) do
  add_view(reply, job_numbered(number_in(member)))
end
return reply
