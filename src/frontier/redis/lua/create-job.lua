#!lua
-- create-job: makes a job; one that is there already is left as it is.                     Cost: O(fields and rules).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 job id   3 scope name   4 deadline or ""   5 1 on its home shard   6 how many fields follow, name and
--       value   then a site and its policy for every special rule
-- Reply: now.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua
begin(ARGV[1])
-- What no script looks at: kept beside the row.
local ABOUT = { name = true, queue = true, spec = true }
local id, scope, deadline, words = ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[6]) * 2
if redis.call("HEXISTS", key("jobs"), id) == 1 then return exact(step.now) end

local n = redis.call("HINCRBY", key("meta"), "next_job", 1)
local own = tonumber(redis.call("HGET", key("scopes"), scope) or nil)
if not own then
  own = redis.call("HINCRBY", key("meta"), "next_scope", 1)
  redis.call("HSET", key("scopes"), scope, own)
  redis.call("HSET", key("scope", own), "job", n)
end
local job = { n = n, id = id, state = "running", scope = own, created = step.now, deadline = tonumber(deadline) }
for at = 7, 6 + words, 2 do
  if ABOUT[ARGV[at]] then redis.call("HSET", key("about", n), ARGV[at], ARGV[at + 1])
  else job[ARGV[at]] = tonumber(ARGV[at + 1]) end
end
if job.lapse then redis.call("ZADD", key("lapsing"), "NX", exact(step.now), own) end
write_job(job)
if job.deadline then redis.call("ZADD", key("deadlines"), deadline, n) end
for at = 7 + words, #ARGV, 2 do redis.call("HSET", key("rules", n), ARGV[at], ARGV[at + 1]) end
redis.call("HSET", key("jobs"), id, n)
redis.call("ZADD", key("job-order"), exact(step.now), ordered(n))
if ARGV[5] == "1" then note_open(job) end
return exact(step.now)
