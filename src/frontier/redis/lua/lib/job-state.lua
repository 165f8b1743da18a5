-- job-state: a job's owner shard gives each change of the job's state a generation number. The other shards apply the
-- change (apply-job-state). Until all of them have applied it, the job is in `untold`, so that a reaper can continue
-- after a crash.
local function raise_generation(job)
  job.generation = job.generation + 1
  if tx.totals.shards > 1 then redis.call("SADD", key("untold"), job.n) end
end
