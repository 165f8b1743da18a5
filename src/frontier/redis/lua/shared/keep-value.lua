#!lua flags=allow-oom
-- keep-value: write a shared value if its version is still the expected one.                          Cost: O(1).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 key   3 value   4 expected version, 0 if there is no value   5 for how long, ms
-- Reply: now, the new version; 0 if another process has written the value.
-- @include lib/base.lua
local now, name, value = time_of(ARGV[1]), ARGV[2], ARGV[3]
local expected, ttl_ms = tonumber(ARGV[4]), tonumber(ARGV[5])
local stored_key = key("value", name)
local stored = redis.call("HMGET", stored_key, "version", "until")
local version = 0
if stored[1] and tonumber(stored[2]) > now then version = tonumber(stored[1]) end
if version ~= expected then return { exact(now), 0 } end
redis.call("HSET", stored_key, "version", version + 1, "value", value, "until", exact(now + ttl_ms))
-- Readers compare `until` with the caller's time; the expiry of the key only cleans up.
redis.call("PEXPIRE", stored_key, math.ceil(ttl_ms))
return { exact(now), version + 1 }
