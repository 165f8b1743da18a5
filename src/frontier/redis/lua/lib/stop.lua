-- stop: a job of which no more is to be fetched; and marking a job whose lanes have to follow a change.
local function unsync(job)
  job.synced = 0
  redis.call("SADD", key("unsynced"), job.n)
end

local function stop(job)
  job.cancelled = job.cancelled + job.queued + job.delayed
  job.stopped, job.sealed, job.queued, job.delayed = 1, 1, 0, 0
  redis.call("ZREM", key("deadlines"), job.n)
  unsync(job)
end
