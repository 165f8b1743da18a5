#!lua flags=allow-oom
-- sync: ends a job that is out of time, and brings the next lanes of a changed job into line with it. Called until there
-- is nothing to do; a crash between two calls leaves the job marked, and the next reaper goes on.
-- KEYS  1 the shard                                                       Cost: a few small writes a lane, `most` lanes.
-- ARGV  1 now or ""   2 most lanes
-- Reply: now, 1 if there was something to do, then jobs that have nothing left.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/slots.lua lib/lanes.lua lib/wake.lua lib/save.lua lib/stop.lua
begin(ARGV[1])
local most = tonumber(ARGV[2])

local function empty_lane(lane)
  count_waiting(lane, -(fresh_of(lane) + lane.row[DELAYED]))
  redis.call("UNLINK", key("tasks", lane.name), key("back", lane.name), key("delayed", lane.name))
  lane.queued, lane.row[BACK], lane.row[DELAYED] = 0, 0, 0
end

local function follow(lane, job)
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

local overdue = redis.call("ZRANGEBYSCORE", key("deadlines"), "-inf", exact(step.now), "LIMIT", 0, 1)[1]
if overdue then
  local job = job_numbered(tonumber(overdue))
  if job.stopped == 0 and not job.finished then stop(job) else redis.call("ZREM", key("deadlines"), overdue) end
end
local unsynced = redis.call("ZRANGE", key("unsynced"), 0, 0)[1]
if unsynced then
  local job = job_numbered(tonumber(unsynced))
  local names = redis.call("ZRANGEBYSCORE", key("job-lanes", job.n), "(" .. (job.synced or 0), "+inf", "LIMIT", 0, most)
  for _, name in ipairs(names) do
    follow(find_lane(name), job)
    job.synced = find_lane(name).row[SEQ]
  end
  if #names < most then
    job.synced = nil
    redis.call("ZREM", key("unsynced"), job.n)
  end
  save()
end
return { exact(step.now), unsynced and 1 or 0, unpack(step.finished) }
