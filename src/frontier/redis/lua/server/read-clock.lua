#!lua flags=allow-oom
-- read-clock: the server's time.                                                                      Cost: O(1).
-- KEYS  1 the shard
-- ARGV  1 now or ""
-- Reply: now.
-- @include lib/base.lua
return { exact(time_of(ARGV[1])) }
