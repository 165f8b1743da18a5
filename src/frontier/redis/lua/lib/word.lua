-- word: what a job's home shard has decided about it, numbered by generation. The other shards follow, see follow.lua;
-- until all are known to have, the job stands in `untold`, so that whoever finds it there can go on.
local function proclaim(job)
  job.generation = job.generation + 1
  if step.totals.shards > 1 then redis.call("SADD", key("untold"), job.n) end
end
