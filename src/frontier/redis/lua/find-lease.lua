#!lua flags=allow-oom
-- find-lease: looks for a URL of a job among the leases, a stretch at a time.                Cost: O(leases looked at).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 cursor, "0" to begin   3 how many at about   4 "job:site:" as lanes begin   5 the end of the task's body
--       6 its id, or "" if that is not known
-- Reply: now, cursor to go on from ("0": that was all), then if it is there: id, worker, lease until.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/slots.lua lib/lanes.lua lib/wake.lua lib/save.lua lib/leases.lua
step.now = time_of(ARGV[1])
local page = redis.call("HSCAN", key("leases"), ARGV[2], "COUNT", ARGV[3])
local rows, tail = page[2], ARGV[5]
for at = 1, #rows, 2 do
  local task = read_lease(rows[at], rows[at + 1])
  local is_there = string.sub(task.lane, 1, #ARGV[4]) == ARGV[4]
  if is_there and string.sub(task.body, -#tail) == tail and (ARGV[6] == "" or rows[at] == ARGV[6]) then
    local lease_until = redis.call("ZSCORE", key("expiry"), ordered(tonumber(rows[at])))
    return { exact(step.now), "0", rows[at], task.worker, lease_until }
  end
end
return { exact(step.now), page[1] }
