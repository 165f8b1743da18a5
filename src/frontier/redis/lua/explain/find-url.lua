#!lua flags=allow-oom
-- find-url: which jobs have seen a URL, newest dedup scope first.        Cost: two lookups per scope, MAX_BATCH scopes.
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 fingerprint   3 search scopes below this number, or "" for all   4 max
-- Reply: now, the scope to continue below or "", then for each job its number and the task id ("" if the scope does not
--        store it).
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/seen.lua
tx.now = time_of(ARGV[1])
local from = ARGV[3] == "" and tonumber(redis.call("HGET", key("meta"), "next_scope") or 0) or tonumber(ARGV[3]) - 1
local to = math.max(1, from - MAX_BATCH + 1)
local reply = { exact(tx.now), "" }
for n = from, to, -1 do
  local entry = redis.call("HGET", key("lapse", n), ARGV[2])
  if entry then
    local job, task = string.match(entry, "^%S+ (%d+) (%d+)$")
    reply[#reply + 1], reply[#reply + 2] = job, task
  elseif has_seen(scope_numbered(n), ARGV[2]) then
    reply[#reply + 1], reply[#reply + 2] = redis.call("HGET", key("scope", n), "job"), ""
  end
  if (#reply - 2) / 2 >= tonumber(ARGV[4]) then break end
  if n == to and n > 1 then reply[2] = tostring(n) end
end
return reply
