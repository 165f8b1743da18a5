-- stop-job: stop a job, and mark a job whose lanes must be updated after a change.
local function mark_unsynced(job)
  job.synced = 0
  -- Jobs are updated in the order of their changes. If two jobs of a site end at once, the site keeps the policy of the
  -- job that changed last.
  redis.call("ZADD", key("unsynced"), redis.call("HINCRBY", key("meta"), "next_change", 1), job.n)
end

-- The number of pages left that means "no limit".
local NO_LIMIT = 9e15

local function index_deadline(job)
  if job.deadline then redis.call("ZADD", key("deadlines"), exact(job.deadline), job.n)
  else redis.call("ZREM", key("deadlines"), job.n) end
end

local function stop(job)
  job.cancelled = job.cancelled + job.queued + job.delayed
  job.stopped, job.sealed, job.queued, job.delayed = 1, 1, 0, 0
  redis.call("ZREM", key("deadlines"), job.n)
  mark_unsynced(job)
end
