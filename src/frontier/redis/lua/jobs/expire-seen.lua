#!lua flags=allow-oom
-- expire-seen: remove some expired entries from one of the dedup scopes whose entries expire. All callers together scan
-- a scope in steps of at least STEP_MS, and again ROUND_MS after the last step.                  Cost: O(entries read).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 number of entries to read
-- Reply: now, number of removed entries.
-- @include lib/base.lua
local STEP_MS, ROUND_MS, DAY_MS = 100, 60000, 86400000
local now = time_of(ARGV[1])

-- `explain` finds tasks by these entries, so they are kept for a day after they expire.
local function is_lapsed(entry)
  return tonumber(string.match(entry, "^%S+")) + DAY_MS <= now
end

local n = redis.call("ZRANGEBYSCORE", key("lapsing"), "-inf", exact(now), "LIMIT", 0, 1)[1]
if not n then return { exact(now), 0 } end

local cursor = redis.call("HGET", key("scope", n), "cursor") or "0"
local page = redis.call("HSCAN", key("lapse", n), cursor, "COUNT", ARGV[2])
local entries, lapsed = page[2], {}
for at = 1, #entries, 2 do
  if is_lapsed(entries[at + 1]) then lapsed[#lapsed + 1] = entries[at] end
end
-- For a small hash, HSCAN ignores COUNT and returns all fields, possibly more than one HDEL accepts.
for at = 1, #lapsed, MAX_BATCH do
  redis.call("HDEL", key("lapse", n), unpack(lapsed, at, math.min(#lapsed, at + MAX_BATCH - 1)))
end
redis.call("HSET", key("scope", n), "cursor", page[1])
redis.call("ZADD", key("lapsing"), exact(now + (page[1] == "0" and ROUND_MS or STEP_MS)), n)
return { exact(now), #lapsed }
