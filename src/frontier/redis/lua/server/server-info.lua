#!lua flags=allow-oom
-- server-info: INFO of the server that holds a shard. In a cluster, a plain INFO would be sent to any node.
-- KEYS  1 the shard                                                                                      Cost: O(1).
-- ARGV  1 now or ""
-- Reply: now, the text of INFO.
-- @include lib/base.lua
return { exact(time_of(ARGV[1])), redis.call("INFO") }
