#!lua flags=allow-oom
-- find-denied: which commands the ACL denies on a key of the shard. Checked before the first script runs, because a
-- script that fails at a denied command keeps the writes it has made before.                    Cost: O(1) per command.
-- KEYS  1 the shard
-- ARGV  1 now or ""   2… commands
-- Reply: now, then the denied commands.
-- @include lib/base.lua
local reply, args = { exact(time_of(ARGV[1])) }, { key("meta"), key("meta"), key("meta"), key("meta") }
for at = 2, #ARGV do
  -- Four arguments, so that every command has a key or a channel where it expects one.
  if not redis.acl_check_cmd(ARGV[at], unpack(args)) then reply[#reply + 1] = ARGV[at] end
end
return reply
