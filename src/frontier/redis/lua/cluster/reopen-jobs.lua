#!lua
-- reopen-jobs: reopen ended jobs on their owner shard, before other shards replay their dead letters.
-- KEYS  1 the shard                                                                                 Cost: O(1) per job.
-- ARGV  1 now or ""   2… job ids
-- Reply: now, then the id of each job that can be replayed, and 1 if other shards still need its state. The reply
--        includes jobs that an earlier call reopened, because the reply to that call may have been lost.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/job-state.lua lib/dead.lua
begin(ARGV[1])
local reply = { exact(tx.now) }
for at = 2, #ARGV do
  local job = job_named(ARGV[at])
  if job and can_replay(job) then
    -- The generation always grows, so that finish-job does nothing for a process that has read the old generation.
    if reopen(job) then raise_generation(job) else job.generation = job.generation + 1 end
    reply[#reply + 1], reply[#reply + 2] = job.id, redis.call("SISMEMBER", key("untold"), job.n)
    write_job(job)
  end
end
return reply
