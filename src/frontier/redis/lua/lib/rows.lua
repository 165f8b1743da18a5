-- rows: the jobs and sites that a call has loaded, each once. save.lua writes changes back.
local tx = {
  now = 0, totals = {}, jobs = {}, sites = {}, lanes = {}, policy_changed = {}, waiting = {}, waiting_at = {},
  moved = {}, job_sites = {}, finished = {}, health = {},
}

local TOTALS = { "shard", "shards", "next_task", "next_served", "next_site", "next_lane", "pending", "floor" }

local function begin(given)
  tx.now = time_of(given)
  local row = redis.call("HMGET", key("meta"), unpack(TOTALS))
  if not row[2] then error("this broker was emptied while Trawl was running; restart all Trawl processes") end
  for nth, name in ipairs(TOTALS) do tx.totals[name] = tonumber(row[nth] or 0) end
end

local function next_number(name)
  local number = tx.totals[name]
  tx.totals[name] = number + 1
  return number
end

-- A job's row, packed in this order; false for fields without a value.
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
  tx.jobs[n] = job
  return job
end

local function write_job(job)
  local row = {}
  for nth, name in ipairs(JOB) do row[nth] = job[name] or false end
  redis.call("SET", key("job", job.n), cmsgpack.pack(row))
end

-- The indexes of open jobs (by creation) and ended jobs (by end), on their owner shard.
local function index_open_job(job)
  redis.call("ZADD", key("open"), exact(job.created), ordered(job.n))
end

local function index_ended_job(job)
  redis.call("ZREM", key("open"), ordered(job.n))
  redis.call("ZADD", key("ended"), exact(job.finished), ordered(job.n))
end

local function job_numbered(n)
  return tx.jobs[n] or load_job(n)
end

local function job_named(id)
  local n = redis.call("HGET", key("jobs"), id)
  return n and job_numbered(tonumber(n)) or nil
end

-- Whether tasks of a job may be granted at all.
local function may_send(job)
  return job.state == "running" and job.stopped == 0 and (job.deadline == nil or job.deadline > tx.now)
end

-- A site is one packed row: unpacking a list of numbers takes a third of the time of named fields.
local NAME, ARRIVAL, IN_FLIGHT, BLOCKED_UNTIL, INCIDENTS, INTERVAL, BURST, PER_SITE = 1, 2, 3, 4, 5, 6, 7, 8
-- ROBOTS_TASK is the task that must fetch robots.txt, or 0.
local WANTS_ROBOTS, CRAWL_DELAY, ROBOTS_FRESH, ROBOTS_TASK = 9, 10, 11, 12
-- The operator's policy, "interval burst per-site" or false; and the policies of the lanes here, see count_policy.
local OPERATOR, POLICIES, NUMBER = 13, 14, 15
-- The number of the last term, the worker that holds it (false: the term was returned), and its end.
local TERM, TERM_WORKER, TERM_ENDS = 16, 17, 18
-- Then TURN_FIELDS fields per turn, see lanes.lua.
local TURNS, TURN_FIELDS = 19, 7

-- A lease call looks ahead by at most this time, so its terms start at most this long after the call.
local MAX_LOOKAHEAD_MS = 500

-- A restart may have lost the last writes: a worker may hold a term that this server does not know. So once after each
-- restart (at the time `floor`), every site with a rate waits as if a term had been opened at the restart and its
-- worker had crashed. This is safe:
-- * The lost term was opened before the restart. If `lease` opened it, it started at most MAX_LOOKAHEAD_MS later. If
--   `open-term` opened it after the stored term or backoff of the site, it started when these allow the next request.
--   In both cases it ends no later than the assumed term.
-- * A term from before the restart cannot be returned after it. Otherwise a repeated call could return the stored term
--   of a site whose later term was lost, and the site would not wait. Numbers of later terms start at the time of the
--   restart, so they differ from all lost numbers. Otherwise the holder of a lost term could return the term of another
--   worker.
-- Not covered: a lost term that `open-term` opened to start after another lost term, or after a lost backoff.
local function assume_lost_term(site, floor)
  local first_number = math.floor(floor) * 1000
  if site[INTERVAL] == 0 or site[TERM] >= first_number then return end
  local ready = rate_ready_at(site[ARRIVAL], site[INTERVAL], site[BURST])
  local starts_at = math.max(floor + MAX_LOOKAHEAD_MS, ready, site[BLOCKED_UNTIL])
  site[ARRIVAL] = arrival_after_term(starts_at + TERM_MS, site[INTERVAL], site[BURST])
  site[TERM], site[TERM_WORKER], site[TERM_ENDS] = first_number, false, 0
end

local function site_numbered(n)
  local known = tx.sites[n]
  if known then return known end
  local site = cmsgpack.unpack(redis.call("GET", key("site", n)))
  assume_lost_term(site, tx.totals.floor)
  tx.sites[n] = site
  return site
end

-- Whether a task is fetching the site's robots.txt. The site's other tasks wait for that task, at most until its lease
-- ends.
local function is_fetching_robots(site)
  return site[ROBOTS_TASK] ~= 0 and site[WANTS_ROBOTS] == 1 and site[ROBOTS_FRESH] <= tx.now
end

-- The cause is stored with the end of its backoff. If the site has another end, an older version of Trawl has started a
-- backoff without a cause, and the stored cause does not apply.
local function save_backoff_cause(site, cause)
  if cause == "" then redis.call("HDEL", key("backoff-causes"), site[NUMBER])
  else redis.call("HSET", key("backoff-causes"), site[NUMBER], exact(site[BLOCKED_UNTIL]) .. " " .. cause) end
end

local function find_backoff_cause(site)
  local entry = site[BLOCKED_UNTIL] > 0 and redis.call("HGET", key("backoff-causes"), site[NUMBER])
  local ends_at, cause = string.match(entry or "", "^(%S+) (.*)$")
  return tonumber(ends_at or 0) == site[BLOCKED_UNTIL] and cause or ""
end

-- How a site responds: `slowdown` with the JSON of its `cause` or "" (see domain/slowdown.ts), `isolated` and `is_good`
-- (see domain/throttling.ts). A site without an entry has the default values. After a change, set `is_changed`, so that
-- `save` writes the entry. The functions are in a table, because a script may have only 200 local variables.
local health = {}

function health.of(site)
  local n = site[NUMBER]
  if tx.health[n] then return tx.health[n] end
  if tx.has_health == nil then tx.has_health = redis.call("HLEN", key("health")) > 0 end
  local entry = tx.has_health and redis.call("HGET", key("health"), n) or "1 0 1 "
  local slowdown, isolated, is_good, cause = string.match(entry, "^(%S+) (%d+) (%d) (.*)$")
  tx.health[n] = {
    slowdown = tonumber(slowdown), isolated = tonumber(isolated), is_good = is_good == "1", cause = cause,
  }
  return tx.health[n]
end

-- The slowdown that applies now. It no longer applies 10 minutes after the time at which the rate allowed the next
-- request.
function health.slowdown(site)
  return tx.now - site[ARRIVAL] > 600000 and 1 or health.of(site).slowdown
end

function health.save()
  for n, known in pairs(tx.health) do
    local cause = known.slowdown ~= 1 and known.cause or ""
    local entry = string.format("%.17g %d %d %s", known.slowdown, known.isolated, known.is_good and 1 or 0, cause)
    if known.is_changed and entry == "1 0 1 " then redis.call("HDEL", key("health"), n)
    elseif known.is_changed then redis.call("HSET", key("health"), n, entry) end
  end
end

-- How many requests to a site may run at once. After a backoff it is one, until a response is good.
function health.concurrency(site)
  return site[INCIDENTS] > 0 and 1 or site[PER_SITE]
end

-- Records a good response. During a backoff it does not reset the incidents, because its request was sent before the
-- backoff.
function health.note_good(site)
  local known = health.of(site)
  if not known.is_good then known.is_good, known.is_changed = true, true end
  if site[BLOCKED_UNTIL] <= tx.now then site[INCIDENTS] = 0 end
end

local function site_number(name)
  return tonumber(redis.call("HGET", key("sites"), name) or nil)
end

local function add_site(name)
  local n = next_number("next_site")
  redis.call("HSET", key("sites"), name, n)
  local site = { name, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, false, "", n, 0, false, 0 }
  tx.sites[n] = site
  return site
end

local function site_named(name)
  local n = site_number(name)
  if n then return site_numbered(n) end
  return add_site(name)
end
