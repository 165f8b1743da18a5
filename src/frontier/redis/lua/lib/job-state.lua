-- job-state: a job's owner shard numbers each change of the job's state with a generation. The other shards apply it, see
-- apply-job-state. Until all have, the job is in `untold`, so that a reaper can continue after a crash.
local function raise_generation(job)
  job.generation = job.generation + 1
  if tx.totals.shards > 1 then redis.call("SADD", key("untold"), job.n) end
end
