-- save: writes back what a call has changed, works out when every touched site is due next, and ends jobs that have
-- nothing left. Lanes first, since sites follow from them; jobs last. A call that does not reach this changes nothing
-- but what it has pushed and popped itself, so scripts check everything before they touch anything.
local function first_score(zset)
  return tonumber(redis.call("ZRANGE", zset, 0, 0, "WITHSCORES")[2])
end

-- Where a lane stands among those of its turn: by when it was served while it has something to give (served counts stay
-- far below any time), by time while all it has is retries, nowhere while nothing of it may go.
local function lane_score(lane)
  if not may_send(job_numbered(lane.row[JOB_NUMBER])) then return false end
  if fresh_of(lane) > 0 then return lane.row[SERVED] end
  if lane.row[DELAYED] == 0 then return false end
  return first_score(key("delayed", lane.name))
end

local function save_lane(lane)
  local row = lane.row
  if lane.more then step.at_site[row[SITE_NUMBER]] = (step.at_site[row[SITE_NUMBER]] or 0) + lane.more end
  if row[LEASED] + row[BACK] + row[DELAYED] == 0 and fresh_of(lane) == 0 then
    leave_turn(lane)
    count_policy(site_numbered(row[SITE_NUMBER]), row[POLICY], -1)
    redis.call("ZREM", key("job-lanes", row[JOB_NUMBER]), lane.name)
    redis.call("DEL", key("lane", lane.name))
    return
  end
  if lane.rescore then place_lane(lane, lane_score(lane)) end
  redis.call("SET", key("lane", lane.name), cmsgpack.pack(row))
end

-- The operator's word, or the strictest of the jobs there that are not paused, and the crawl-delay; else the last one.
local function repolice(site)
  local interval, burst, per_site, robots
  for policy in pairs(policies_of(site)) do
    local wish, most, at_once, asks, paused = string.match(policy, "^(%S+) (%d+) (%d+) (%d)(.*)$")
    robots = math.max(robots or 0, tonumber(asks))
    if paused == "" then
      interval = math.max(interval or 0, tonumber(wish))
      burst = math.min(burst or NEVER, tonumber(most))
      per_site = math.min(per_site or NEVER, tonumber(at_once))
    end
  end
  site[WANTS_ROBOTS] = robots or site[WANTS_ROBOTS]
  if interval and robots == 1 and site[CRAWL_DELAY] > 0 then
    -- A crawl-delay stands between any two requests: it knows no bursts.
    interval, burst = math.max(interval, site[CRAWL_DELAY]), 1
  end
  local before, before_burst = site[INTERVAL], site[BURST]
  if interval then site[INTERVAL], site[BURST], site[PER_SITE] = interval, burst, per_site end
  if site[OPERATOR] then
    local wish, most, at_once = string.match(site[OPERATOR], "^(%S+) (%S+) (%S+)$")
    site[INTERVAL], site[BURST], site[PER_SITE] = tonumber(wish), tonumber(most), tonumber(at_once)
  end
  site[ARRIVAL] = reprice(site[ARRIVAL], step.now, before, before_burst, site[INTERVAL])
end

local function due_of(site, at, ready)
  if site[at + LANES] == 0 then return NEVER end
  local first
  if site[at + ONLY] then first = site[at + ONLY_SCORE] else first = first_score(lanes_key(site, at)) end
  if not first then return NEVER end
  return math.max(first < 1e12 and 0 or first, ready, site[at + SERVED_AT])
end

-- A turn stands among those that come due only while something will make it due by itself.
local function save_turn(site, at, ready)
  local name, before, due = site[at], site[at + DUE], due_of(site, at, ready)
  local member = ordered(site[at + TURN_SERVED]) .. ordered(site[NUMBER])
  local moved = step.moved[site[NUMBER] .. " " .. name]
  if before < NEVER and (moved or due >= NEVER) then redis.call("ZREM", key("due", name), moved or member) end
  if due < NEVER and (moved or due ~= before) then redis.call("ZADD", key("due", name), due, member) end
  site[at + DUE] = due
  if site[at + LANES] > 0 then return announce_turn(name, due) end
  for nth = at, #site do site[nth] = site[nth + TURN_WORDS] end
end

local function save_site(site)
  local ready = ready_at(site)
  for at = #site + 1 - TURN_WORDS, TURNS, -TURN_WORDS do save_turn(site, at, ready) end
  redis.call("SET", key("site", site[NUMBER]), cmsgpack.pack(site))
end

-- Whether all of a job's URLs are in and nothing of it waits or is leased here. What a stopped job leaves in its lanes
-- goes first: a replay would find it there.
local function is_over(job)
  local live = job.queued + job.delayed + job.leased
  return live == 0 and not job.synced and job.sealed == 1 and not job.finished and (job.state == "running" or job.state == "cancelled")
end

local function end_if_over(job)
  if not is_over(job) then return end
  step.finished[#step.finished + 1] = job.id
  -- With more shards only all of them together can tell; finish.lua does.
  if step.totals.shards > 1 then return end
  job.finished = step.now
  note_end(job)
  if job.state == "running" then
    -- A redirect is done too, and no page.
    job.state = job.pages == 0 and job.dead + job.refused > 0 and "failed" or "finished"
  end
end

local function save_job(job)
  end_if_over(job)
  write_job(job)
end

local function save_counts(name, counts)
  for of, more in pairs(counts) do
    if more ~= 0 then redis.call("HINCRBY", key(name), of, more) end
  end
end

local function save()
  for _, lane in pairs(step.lanes) do save_lane(lane) end
  for n in pairs(step.repoliced) do repolice(site_numbered(n)) end
  for _, site in pairs(step.sites) do save_site(site) end
  for _, known in pairs(step.job_sites) do save_job_site(known) end
  for _, job in pairs(step.jobs) do save_job(job) end
  save_counts("waiting", step.waiting)
  save_counts("site-waiting", step.at_site)
  local totals = step.totals
  redis.call("HSET", key("meta"), "next_task", totals.next_task, "next_served", totals.next_served, "next_site",
    totals.next_site, "next_lane", totals.next_lane, "pending", totals.pending)
  wake_workers()
end
