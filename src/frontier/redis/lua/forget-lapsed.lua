#!lua flags=allow-oom
-- forget-lapsed: takes some entries that have lapsed out of one of the scopes whose entries do. A scope is looked through
-- in steps STEP_MS apart, however many call, and anew a while after its last one.        Cost: O(entries looked at).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 how many entries to look at
-- Reply: now, how many were taken out.
-- @include lib/base.lua
local STEP_MS, ROUND_MS, DAY_MS = 100, 60000, 86400000
local now = time_of(ARGV[1])

-- An entry leads to its task: people may ask for that a day longer.
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
-- A small hash is read whole, whatever is asked for: more than a call may have as arguments at once.
for at = 1, #lapsed, BATCH_MOST do
  redis.call("HDEL", key("lapse", n), unpack(lapsed, at, math.min(#lapsed, at + BATCH_MOST - 1)))
end
redis.call("HSET", key("scope", n), "cursor", page[1])
redis.call("ZADD", key("lapsing"), exact(now + (page[1] == "0" and ROUND_MS or STEP_MS)), n)
return { exact(now), #lapsed }
