-- stop: a job of which no more is to be fetched; and marking a job whose lanes have to follow a change.
local function unsync(job)
  job.synced = 0
  -- In the order of the changes: of two jobs that end at once, the later one's rules are the last that a site hears.
  redis.call("ZADD", key("unsynced"), redis.call("HINCRBY", key("meta"), "next_change", 1), job.n)
end

local function stop(job)
  job.cancelled = job.cancelled + job.queued + job.delayed
  job.stopped, job.sealed, job.queued, job.delayed = 1, 1, 0, 0
  redis.call("ZREM", key("deadlines"), job.n)
  unsync(job)
end
