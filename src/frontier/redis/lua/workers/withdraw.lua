#!lua flags=allow-oom
-- withdraw: remove a worker's announcement and its command.                                          Cost: O(1).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 worker
-- Reply: now.
-- @include lib/base.lua
redis.call("HDEL", key("workers"), ARGV[2])
redis.call("HDEL", key("orders"), ARGV[2])
return { exact(time_of(ARGV[1])) }
