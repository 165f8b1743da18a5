#!lua flags=allow-oom
-- find-denied: which commands this user may not run on a key of the shard. A script that met such a one half way would
-- leave the other half undone, so they are asked for before.                                Cost: O(1) a command.
-- KEYS  1 the shard
-- ARGV  1 now or ""   2… commands
-- Reply: now, then those that are denied.
-- @include lib/base.lua
local reply, words = { exact(time_of(ARGV[1])) }, { key("meta"), key("meta"), key("meta"), key("meta") }
for at = 2, #ARGV do
  -- So many that every command finds its keys or its channel where it expects them.
  if not redis.acl_check_cmd(ARGV[at], unpack(words)) then reply[#reply + 1] = ARGV[at] end
end
return reply
