-- save: writes loaded rows back, computes when each of their sites is due next, and ends jobs that have no tasks left.
-- Lanes are saved first, because sites depend on them; jobs last. A script that fails before this has changed only the
-- lists and sets that it wrote itself. So scripts check everything before they change anything.
local function first_score(zset)
  return tonumber(redis.call("ZRANGE", zset, 0, 0, "WITHSCORES")[2])
end

-- The score of a lane in its turn: its service number if a task may be granted (these numbers are far below any time),
-- the time of its first retry if it has only retries, false if nothing may be granted.
local function lane_score(lane)
  if not may_send(job_numbered(lane.row[JOB_NUMBER])) then return false end
  if count_fresh(lane) > 0 then return lane.row[SERVED] end
  if lane.row[DELAYED] == 0 then return false end
  return first_score(key("delayed", lane.name))
end

local function save_lane(lane)
  local row = lane.row
  if lane.more then tx.waiting_at[row[SITE_NUMBER]] = (tx.waiting_at[row[SITE_NUMBER]] or 0) + lane.more end
  if row[LEASED] + row[BACK] + row[DELAYED] == 0 and count_fresh(lane) == 0 then
    leave_turn(lane)
    count_policy(site_numbered(row[SITE_NUMBER]), row[POLICY], -1)
    redis.call("ZREM", key("job-lanes", row[JOB_NUMBER]), lane.name)
    redis.call("DEL", key("lane", lane.name))
    return
  end
  if lane.rescore then place_lane(lane, lane_score(lane)) end
  redis.call("SET", key("lane", lane.name), cmsgpack.pack(row))
end

-- The member of a turn in its `due` set. If this call has served the turn, the set still contains the member in
-- `tx.moved` instead.
local function due_member(site, at)
  return ordered(site[at + TURN_SERVED]) .. ordered(site[NUMBER])
end

-- The site got a rate or lost it: its turns leave their set. save_site adds them to the other one.
local function leave_due_set(site, was_paced)
  for at = TURNS, #site, TURN_FIELDS do
    local member = tx.moved[site[NUMBER] .. " " .. site[at]] or due_member(site, at)
    if site[at + DUE] < NEVER then redis.call("ZREM", due_key(was_paced, site[at]), member) end
    site[at + DUE] = NEVER
  end
end

-- Computes the policy of a site: the operator's policy if there is one; otherwise the strictest policy of its jobs that
-- are not paused, combined with the crawl-delay. If all its jobs are paused or it has none, the policy stays unchanged.
local function update_policy(site)
  local interval, burst, per_site, robots
  for policy in pairs(policies_of(site)) do
    local wait, most, at_once, obeys_robots, paused = string.match(policy, "^(%S+) (%d+) (%d+) (%d)(.*)$")
    robots = math.max(robots or 0, tonumber(obeys_robots))
    if paused == "" then
      interval = math.max(interval or 0, tonumber(wait))
      burst = math.min(burst or NEVER, tonumber(most))
      per_site = math.min(per_site or NEVER, tonumber(at_once))
    end
  end
  site[WANTS_ROBOTS] = robots or site[WANTS_ROBOTS]
  if interval and robots == 1 and site[CRAWL_DELAY] > 0 then
    -- A crawl-delay separates any two requests, so it allows no burst.
    interval, burst = math.max(interval, site[CRAWL_DELAY]), 1
  end
  local before, before_burst = site[INTERVAL], site[BURST]
  if interval then site[INTERVAL], site[BURST], site[PER_SITE] = interval, burst, per_site end
  if site[OPERATOR] then
    local wait, most, at_once = string.match(site[OPERATOR], "^(%S+) (%S+) (%S+)$")
    site[INTERVAL], site[BURST], site[PER_SITE] = tonumber(wait), tonumber(most), tonumber(at_once)
  end
  site[ARRIVAL] = rescale_arrival(site[ARRIVAL], tx.now, before, before_burst, site[INTERVAL])
  if (before > 0) ~= (site[INTERVAL] > 0) then leave_due_set(site, before > 0) end
end

local function due_of(site, at, ready)
  if site[at + LANES] == 0 then return NEVER end
  local first
  if site[at + ONLY] then first = site[at + ONLY_SCORE] else first = first_score(lanes_key(site, at)) end
  if not first then return NEVER end
  return math.max(first < 1e12 and 0 or first, ready, site[at + SERVED_AT])
end

-- Updates the `due` set. A turn is in it only if it becomes due by time alone.
local function place_turn(site, at, ready)
  local before, due, member = site[at + DUE], due_of(site, at, ready), due_member(site, at)
  local set, moved = due_key(site[INTERVAL] > 0, site[at]), tx.moved[site[NUMBER] .. " " .. site[at]]
  if before < NEVER and (moved or due >= NEVER) then redis.call("ZREM", set, moved or member) end
  if due < NEVER and (moved or due ~= before) then redis.call("ZADD", set, due, member) end
  site[at + DUE] = due
end

local function save_turn(site, at, ready)
  place_turn(site, at, ready)
  if site[at + LANES] > 0 then return collect_due(site[at], site[at + DUE]) end
  for nth = at, #site do site[nth] = site[nth + TURN_FIELDS] end
end

local function save_site(site)
  local ready = ready_at(site)
  for at = #site + 1 - TURN_FIELDS, TURNS, -TURN_FIELDS do save_turn(site, at, ready) end
  redis.call("SET", key("site", site[NUMBER]), cmsgpack.pack(site))
end

-- Whether a job is sealed and has nothing queued, delayed or leased on this shard. The lanes of a stopped job must be
-- emptied first, because a replay would find the old tasks there.
local function is_empty(job)
  local live = job.queued + job.delayed + job.leased
  return live == 0 and not job.synced and job.sealed == 1 and not job.finished and (job.state == "running" or job.state == "cancelled")
end

local function end_if_empty(job)
  if not is_empty(job) then return end
  tx.finished[#tx.finished + 1] = job.id
  -- With several shards, finish-job ends it once all shards are empty.
  if tx.totals.shards > 1 then return end
  job.finished = tx.now
  index_ended_job(job)
  if job.state == "running" then
    -- Decided by the number of pages, because a task that was redirected is done but has no page.
    job.state = job.pages == 0 and job.dead + job.refused > 0 and "failed" or "finished"
  end
end

local function save_job(job)
  end_if_empty(job)
  write_job(job)
end

local function save_counts(name, counts)
  for of, more in pairs(counts) do
    if more ~= 0 then redis.call("HINCRBY", key(name), of, more) end
  end
end

local function save()
  for _, lane in pairs(tx.lanes) do save_lane(lane) end
  for n in pairs(tx.policy_changed) do update_policy(site_numbered(n)) end
  for _, site in pairs(tx.sites) do save_site(site) end
  health.save()
  for _, known in pairs(tx.job_sites) do save_job_site(known) end
  for _, job in pairs(tx.jobs) do save_job(job) end
  save_counts("waiting", tx.waiting)
  save_counts("site-waiting", tx.waiting_at)
  local totals = tx.totals
  redis.call("HSET", key("meta"), "next_task", totals.next_task, "next_served", totals.next_served, "next_site",
    totals.next_site, "next_lane", totals.next_lane, "pending", totals.pending)
  wake_workers()
end
