#!lua flags=allow-oom
-- sync-lanes: stop a job whose deadline has passed, and apply a changed job's settings to its next lanes. Called until
-- there is nothing to do. A crash between two calls leaves the job in `unsynced`, and the next reaper continues.
-- KEYS  1 the shard                                                     Cost: a few small writes per lane, `max` lanes.
-- ARGV  1 now or ""   2 max lanes
-- Reply: now, 1 if there was something to do, then ids of jobs that have nothing left on this shard.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/terms.lua lib/lanes.lua lib/wake-workers.lua lib/save.lua lib/stop-job.lua
begin(ARGV[1])
local max = tonumber(ARGV[2])

local function empty_lane(lane)
  count_waiting(lane, -(count_fresh(lane) + lane.row[DELAYED]))
  redis.call("UNLINK", key("tasks", lane.name), key("back", lane.name), key("delayed", lane.name))
  lane.queued, lane.row[BACK], lane.row[DELAYED] = 0, 0, 0
end

local function sync_lane(lane, job)
  if job.stopped == 1 then empty_lane(lane) end
  local row = lane.row
  local site, rank = site_numbered(row[SITE_NUMBER]), rank_of(job, row[PRIORITY])
  if rank ~= row[RANK] then
    leave_turn(lane)
    row[RANK] = rank
    join_turn(lane)
  end
  local policy = policy_of(job, site)
  count_policy(site, row[POLICY], -1)
  count_policy(site, policy, 1)
  row[POLICY], lane.rescore = policy, true
end

local overdue = redis.call("ZRANGEBYSCORE", key("deadlines"), "-inf", exact(tx.now), "LIMIT", 0, 1)[1]
if overdue then
  local job = job_numbered(tonumber(overdue))
  if job.stopped == 0 and not job.finished then stop(job) else redis.call("ZREM", key("deadlines"), overdue) end
end
local unsynced = redis.call("ZRANGE", key("unsynced"), 0, 0)[1]
if unsynced then
  local job = job_numbered(tonumber(unsynced))
  local names = redis.call("ZRANGEBYSCORE", key("job-lanes", job.n), "(" .. (job.synced or 0), "+inf", "LIMIT", 0, max)
  for _, name in ipairs(names) do
    sync_lane(find_lane(name), job)
    job.synced = find_lane(name).row[SEQ]
  end
  if #names < max then
    job.synced = nil
    redis.call("ZREM", key("unsynced"), job.n)
  end
  save()
end
return { exact(tx.now), unsynced and 1 or 0, unpack(tx.finished) }
