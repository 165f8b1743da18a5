#!lua flags=allow-oom
-- find-lease: search the leases for a URL of a job, one page of the hash per call.               Cost: O(leases read).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 cursor, "0" to start   3 leases per page, roughly   4 "job:site:", the prefix of its lanes
--       5 the end of the task's body   6 its id, or "" if unknown
-- Reply: now, the next cursor ("0": done), then if found: id, worker, lease end.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/terms.lua lib/lanes.lua lib/wake-workers.lua lib/save.lua lib/leases.lua
tx.now = time_of(ARGV[1])
local page = redis.call("HSCAN", key("leases"), ARGV[2], "COUNT", ARGV[3])
local rows, tail = page[2], ARGV[5]
for at = 1, #rows, 2 do
  local task = read_lease(rows[at], rows[at + 1])
  local is_in_lanes = string.sub(task.lane, 1, #ARGV[4]) == ARGV[4]
  if is_in_lanes and string.sub(task.body, -#tail) == tail and (ARGV[6] == "" or rows[at] == ARGV[6]) then
    local lease_until = redis.call("ZSCORE", key("expiry"), ordered(tonumber(rows[at])))
    return { exact(tx.now), "0", rows[at], task.worker, lease_until }
  end
end
return { exact(tx.now), page[1] }
