#!lua
-- reopen: ended jobs are about to get dead letters back; on their home shard, before they go to the others.
-- KEYS  1 the shard                                                                                    Cost: O(1) a job.
-- ARGV  1 now or ""   2… job ids
-- Reply: now, then id of each job that may take letters back, and 1 if other shards have yet to hear that it is open: also
--        where an earlier call has opened it whose answer was lost, or whose word did not reach all of them.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/word.lua lib/dead.lua
begin(ARGV[1])
local reply = { exact(step.now) }
for at = 2, #ARGV do
  local job = job_named(ARGV[at])
  if job and takes_back(job) then
    -- Raised in any case: whoever is about to end it has looked before this.
    if run_again(job) then proclaim(job) else job.generation = job.generation + 1 end
    reply[#reply + 1], reply[#reply + 2] = job.id, redis.call("SISMEMBER", key("untold"), job.n)
    write_job(job)
  end
end
return reply
