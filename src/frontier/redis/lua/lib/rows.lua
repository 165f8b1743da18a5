-- rows: what a call has read of jobs and sites, each once. save.lua writes back what has changed.
local step = {
  now = 0, ahead = 0, totals = {}, jobs = {}, sites = {}, lanes = {}, repoliced = {}, waiting = {}, at_site = {}, moved = {},
  job_sites = {},
  finished = {},
}

local TOTALS = { "shard", "shards", "next_task", "next_served", "next_site", "next_lane", "pending", "floor" }

-- A call may ask how things will be `ahead` ms from now: when its answer has reached the worker.
local function begin(given, ahead)
  step.ahead = tonumber(ahead or 0)
  step.now = time_of(given) + step.ahead
  local row = redis.call("HMGET", key("meta"), unpack(TOTALS))
  if not row[2] then error("this broker was emptied under a running Trawl; restart what runs on it") end
  for nth, name in ipairs(TOTALS) do step.totals[name] = tonumber(row[nth] or 0) end
end

-- What time it is, however far ahead a call looks.
local function clock()
  return step.now - step.ahead
end

local function next_number(name)
  local number = step.totals[name]
  step.totals[name] = number + 1
  return number
end

-- A job's row, packed in this order; false for what is not there.
local JOB = {
  "id", "state", "sealed", "stopped", "base_priority", "priority", "interval", "burst", "per_site", "has_rules",
  "robots", "retries", "backoff", "page_limit", "admitted", "deadline", "scope", "lapse", "finished", "synced",
  "submitted", "discovered", "queued", "delayed", "leased", "done", "dead", "cancelled", "duplicate", "refused",
  "pages", "records", "invalid", "bytes", "generation", "created", "pages_left", "page_total",
}

local function load_job(n)
  local packed = redis.call("GET", key("job", n))
  if not packed then return nil end
  local row, job = cmsgpack.unpack(packed), { n = n }
  for nth, name in ipairs(JOB) do job[name] = row[nth] or nil end
  step.jobs[n] = job
  return job
end

local function write_job(job)
  local row = {}
  for nth, name in ipairs(JOB) do row[nth] = job[name] or false end
  redis.call("SET", key("job", job.n), cmsgpack.pack(row))
end

-- Jobs that have not ended are found by their making, and others by how long ago they ended; on their home shard.
local function note_open(job)
  redis.call("ZADD", key("open"), exact(job.created), ordered(job.n))
end

local function note_end(job)
  redis.call("ZREM", key("open"), ordered(job.n))
  redis.call("ZADD", key("ended"), exact(job.finished), ordered(job.n))
end

local function job_numbered(n)
  return step.jobs[n] or load_job(n)
end

local function job_named(id)
  local n = redis.call("HGET", key("jobs"), id)
  return n and job_numbered(tonumber(n)) or nil
end

-- Whether tasks of a job may be granted at all.
local function may_send(job)
  return job.state == "running" and job.stopped == 0 and (job.deadline == nil or job.deadline > step.now)
end

-- A site is one packed row: unpacking a list of numbers takes a third of the time that named fields do.
local NAME, ARRIVAL, IN_FLIGHT, BLOCKED_UNTIL, INCIDENTS, INTERVAL, BURST, PER_SITE = 1, 2, 3, 4, 5, 6, 7, 8
local WANTS_ROBOTS, CRAWL_DELAY, ROBOTS_FRESH, ASKER = 9, 10, 11, 12
-- The operator's word, "interval burst at-once" or false; and what the lanes here ask for, see count_policy.
local OPERATOR, POLICIES, NUMBER = 13, 14, 15
-- Then so many words for each turn, see turns in lanes.lua.
local TURNS, TURN_WORDS = 16, 7

local function site_numbered(n)
  local known = step.sites[n]
  if known then return known end
  local site = cmsgpack.unpack(redis.call("GET", key("site", n)))
  -- After a restart that may have lost the last grants, every site rests as if its whole burst had just gone out.
  local floor = step.totals.floor
  if floor > 0 then site[ARRIVAL] = math.max(site[ARRIVAL], floor + site[BURST] * spacing_of(site[INTERVAL])) end
  step.sites[n] = site
  return site
end

-- Whether somebody is fetching the robots.txt that all others wait for. Its lease ends sooner or later, and that with it.
local function is_asking(site)
  return site[ASKER] ~= 0 and site[WANTS_ROBOTS] == 1 and site[ROBOTS_FRESH] <= step.now
end

local function site_number(name)
  return tonumber(redis.call("HGET", key("sites"), name) or nil)
end

local function add_site(name)
  local n = next_number("next_site")
  redis.call("HSET", key("sites"), name, n)
  local site = { name, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, false, "", n }
  step.sites[n] = site
  return site
end

local function site_named(name)
  local n = site_number(name)
  if n then return site_numbered(n) end
  return add_site(name)
end
