-- stop: a job of which no more is to be fetched; and marking a job whose lanes have to follow a change.
local function unsync(job)
  job.synced = 0
  -- In the order of the changes: of two jobs that end at once, the later one's rules are the last that a site hears.
  redis.call("ZADD", key("unsynced"), redis.call("HINCRBY", key("meta"), "next_change", 1), job.n)
end

-- Stands for "as many as there are" where each page has to be taken from something.
local NO_LIMIT = 9e15

local function keep_deadline(job)
  if job.deadline then redis.call("ZADD", key("deadlines"), exact(job.deadline), job.n)
  else redis.call("ZREM", key("deadlines"), job.n) end
end

local function stop(job)
  job.cancelled = job.cancelled + job.queued + job.delayed
  job.stopped, job.sealed, job.queued, job.delayed = 1, 1, 0, 0
  redis.call("ZREM", key("deadlines"), job.n)
  unsync(job)
end
