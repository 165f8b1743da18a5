#!lua
-- create-job: create a job. An existing job stays unchanged.                                 Cost: O(fields and rules).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 job id   3 dedup scope   4 deadline or ""   5 1 on its owner shard   6 number of fields, then
--       name and value of each, then site and policy of each special rule
-- Reply: now.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua
begin(ARGV[1])
-- Fields that no script computes with are stored in a hash of their own, not in the row.
local ABOUT = { name = true, queue = true, spec = true }
local id, scope, deadline, values = ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[6]) * 2
if redis.call("HEXISTS", key("jobs"), id) == 1 then return exact(tx.now) end

local n = redis.call("HINCRBY", key("meta"), "next_job", 1)
local own = tonumber(redis.call("HGET", key("scopes"), scope) or nil)
if not own then
  own = redis.call("HINCRBY", key("meta"), "next_scope", 1)
  redis.call("HSET", key("scopes"), scope, own)
  redis.call("HSET", key("scope", own), "job", n)
end
local job = { n = n, id = id, state = "running", scope = own, created = tx.now, deadline = tonumber(deadline) }
for at = 7, 6 + values, 2 do
  if ABOUT[ARGV[at]] then redis.call("HSET", key("about", n), ARGV[at], ARGV[at + 1])
  else job[ARGV[at]] = tonumber(ARGV[at + 1]) end
end
if job.lapse then redis.call("ZADD", key("lapsing"), "NX", exact(tx.now), own) end
write_job(job)
if job.deadline then redis.call("ZADD", key("deadlines"), deadline, n) end
for at = 7 + values, #ARGV, 2 do redis.call("HSET", key("rules", n), ARGV[at], ARGV[at + 1]) end
redis.call("HSET", key("jobs"), id, n)
redis.call("ZADD", key("job-order"), exact(tx.now), ordered(n))
if ARGV[5] == "1" then index_open_job(job) end
return exact(tx.now)
