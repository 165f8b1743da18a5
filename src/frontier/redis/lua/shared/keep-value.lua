#!lua flags=allow-oom
-- keep-value: write a shared value if its version is still the expected one.                          Cost: O(1).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 key   3 value   4 expected version, 0 if there is no value   5 for how long, ms
-- Reply: now, the new version; 0 if another process has written the value.
-- @include lib/base.lua
local now, name, value = time_of(ARGV[1]), ARGV[2], ARGV[3]
local expected, ttl_ms = tonumber(ARGV[4]), tonumber(ARGV[5])
local stored = redis.call("GET", key("value", name))
local version = 0
if stored then
  local written, expires_at = string.match(stored, "^(%d+) (%S+) ")
  if tonumber(expires_at) > now then version = tonumber(written) end
end
if version ~= expected then return { exact(now), 0 } end
local row = string.format("%d %s %s", version + 1, exact(now + ttl_ms), value)
-- Readers compare the expiry in the row with the caller's time; the expiry of the key only cleans up.
redis.call("SET", key("value", name), row, "PX", math.ceil(ttl_ms))
return { exact(now), version + 1 }
