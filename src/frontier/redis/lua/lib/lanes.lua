-- lanes: a lane contains the tasks of one job at one site, on one queue, at one priority. It exists while any of its
-- tasks wait or are leased. Its name is "job:site:priority:queue". The number of tasks that were never granted is the
-- length of their list, so queueing behind other tasks changes nothing but the list.
local SEQ, RANK, BACK, DELAYED, LEASED, SERVED, SCORE, POLICY = 1, 2, 3, 4, 5, 6, 7, 8
local JOB_NUMBER, SITE_NUMBER, PRIORITY, QUEUE = 9, 10, 11, 12

-- Suspects of a queue wait on a queue of their own with this suffix, see frontier.ts.
local ALONE = "!alone"
local SUSPECT_AFTER = 2

-- The queue without the suffix of suspects: the name that users and idle workers use.
local function base_queue(queue)
  return string.sub(queue, -#ALONE) == ALONE and string.sub(queue, 1, -#ALONE - 1) or queue
end

-- Adds a lane to the loaded ones. Its fields are its name, its row, `queued` (number of tasks never granted; read on
-- demand), `more` (by how much this call changes its waiting tasks) and `rescore` (whether its score may have changed).
local function remember_lane(name, row)
  local lane = { name = name, row = row }
  tx.lanes[name] = lane
  return lane
end

local function find_lane(name)
  local known = tx.lanes[name]
  if known then return known end
  local packed = redis.call("GET", key("lane", name))
  return packed and remember_lane(name, cmsgpack.unpack(packed))
end

local function count_fresh(lane)
  lane.queued = lane.queued or redis.call("LLEN", key("tasks", lane.name))
  return lane.queued + lane.row[BACK]
end

-- Changes the number of waiting tasks.
local function count_waiting(lane, by)
  tx.totals.pending = tx.totals.pending + by
  tx.waiting[lane.row[QUEUE]] = (tx.waiting[lane.row[QUEUE]] or 0) + by
  lane.more = (lane.more or 0) + by
end

-- The effective priority: the priority at enqueue, shifted by the change of the job's own priority since then.
local function rank_of(job, priority)
  return math.max(0, math.min(9, priority + job.priority - job.base_priority))
end

-- The policy that a job wants at a site, as one string, so that equal policies can be counted.
local function policy_of(job, site)
  local paused = job.state == "paused" and " paused" or ""
  -- An offline site (domain/offline-site.ts): UNLIMITED of domain/politeness.ts, and no robots.txt.
  if string.sub(site[NAME], 1, 1) == "#" then return "0 1 1000000" .. " 0" .. paused end
  local policy = job.has_rules == 1 and redis.call("HGET", key("rules", job.n), site[NAME])
  if not policy then policy = exact(job.interval) .. " " .. job.burst .. " " .. job.per_site end
  return policy .. " " .. job.robots .. paused
end

-- A site's POLICIES are "policy=count;" for each different policy that its lanes want.
local function policies_of(site)
  local policies = {}
  for policy, count in string.gmatch(site[POLICIES], "([^=]+)=(%d+);") do policies[policy] = tonumber(count) end
  return policies
end

local function count_policy(site, policy, by)
  local policies, parts = policies_of(site), {}
  policies[policy] = (policies[policy] or 0) + by
  for of, count in pairs(policies) do
    if count > 0 then parts[#parts + 1] = of .. "=" .. count .. ";" end
  end
  site[POLICIES] = table.concat(parts)
  tx.policy_changed[site[NUMBER]] = true
end

-- A turn is the entry for the tasks that wait at a site on one queue at one rank. Its fields in the site's row: name,
-- when it was last served, the sequence number of that service, when it is due, number of lanes; and while it has only
-- one lane, that lane and its score (see lane_score). Once a turn has had more than one lane, its lanes are in a sorted
-- set until the turn ends.
local TURN_NAME, SERVED_AT, TURN_SERVED, DUE, LANES, ONLY, ONLY_SCORE = 0, 1, 2, 3, 4, 5, 6

local function turn_at(site, rank, queue)
  local name = rank .. ":" .. queue
  for at = TURNS, #site, TURN_FIELDS do
    if site[at] == name then return at end
  end
end

-- The turns of sites with a rate and of other sites are in two sets, because a lease call has a separate limit for
-- tasks of sites without a rate.
local function due_key(is_paced, name)
  return is_paced and key("due-paced", name) or key("due", name)
end

-- The ranks at which a queue ever had tasks, as digits. A lease call searches only these ranks.
local function ranks_of(queue)
  return redis.call("HGET", key("ranks"), queue) or ""
end

local function add_turn(site, rank, queue)
  local ranks = ranks_of(queue)
  if not string.find(ranks, rank, 1, true) then redis.call("HSET", key("ranks"), queue, ranks .. rank) end
  local at = #site + 1
  local turn = { rank .. ":" .. queue, tx.now, 0, NEVER, 0, false, false }
  for nth, field in ipairs(turn) do site[at + nth - 1] = field end
  return at
end

local function lanes_key(site, at)
  return key("lanes", site[NUMBER] .. ":" .. site[at])
end

local function lane_member(lane)
  return ordered(lane.row[SEQ]) .. lane.name
end

-- Changes the score of a lane in its turn; false removes it.
local function place_lane(lane, score)
  local row = lane.row
  if score == row[SCORE] then return end
  row[SCORE] = score
  local site = site_numbered(row[SITE_NUMBER])
  local at = turn_at(site, row[RANK], row[QUEUE])
  if site[at + ONLY] then site[at + ONLY_SCORE] = score
  elseif score then redis.call("ZADD", lanes_key(site, at), score, lane_member(lane))
  else redis.call("ZREM", lanes_key(site, at), lane_member(lane)) end
end

local function join_turn(lane)
  local row = lane.row
  local site = site_numbered(row[SITE_NUMBER])
  local at = turn_at(site, row[RANK], row[QUEUE]) or add_turn(site, row[RANK], row[QUEUE])
  site[at + LANES] = site[at + LANES] + 1
  if site[at + LANES] == 1 then site[at + ONLY], site[at + ONLY_SCORE] = lane.name, false
  elseif site[at + ONLY] then
    local first, score = find_lane(site[at + ONLY]), site[at + ONLY_SCORE]
    site[at + ONLY], site[at + ONLY_SCORE] = false, false
    if score then redis.call("ZADD", lanes_key(site, at), score, lane_member(first)) end
  end
end

local function leave_turn(lane)
  place_lane(lane, false)
  local site = site_numbered(lane.row[SITE_NUMBER])
  local at = turn_at(site, lane.row[RANK], lane.row[QUEUE])
  site[at + LANES] = site[at + LANES] - 1
  if site[at + ONLY] == lane.name then site[at + ONLY] = false end
end

-- Counters of a job at a site, packed: the names of all lanes it ever had there, each followed by a space, to find its
-- waiting tasks; then the counts of JobSiteView. Tasks at an offline site count for the site whose pages they process.
local AT_LANES, AT_DONE, AT_DEAD, AT_PAGES, AT_RECORDS, AT_INVALID, AT_BYTES, AT_LAST_PAGE = 1, 2, 3, 4, 5, 6, 7, 8

local function job_site_counters(job, site)
  local name = string.sub(site[NAME], 1, 1) == "#" and string.sub(site[NAME], 2) or site[NAME]
  local known = tx.job_sites[job.n .. " " .. name]
  if known then return known.counters end
  local packed = redis.call("HGET", key("job-sites", job.n), name)
  known = { job = job.n, name = name, is_new = not packed }
  known.counters = packed and cmsgpack.unpack(packed) or { "", 0, 0, 0, 0, 0, 0, false }
  tx.job_sites[job.n .. " " .. name] = known
  return known.counters
end

local function save_job_site(known)
  if known.is_new then redis.call("ZADD", key("job-site-names", known.job), 0, known.name) end
  redis.call("HSET", key("job-sites", known.job), known.name, cmsgpack.pack(known.counters))
end

local function lane_for(job, site, queue, priority)
  local name = job.n .. ":" .. site[NUMBER] .. ":" .. priority .. ":" .. queue
  local known = find_lane(name)
  if known then return known end
  local policy, seq = policy_of(job, site), next_number("next_lane")
  local lane = remember_lane(name, {
    seq, rank_of(job, priority), 0, 0, 0, 0, false, policy, job.n, site[NUMBER], priority, queue,
  })
  lane.queued = 0
  local counters = job_site_counters(job, site)
  if not string.find(counters[AT_LANES], name .. " ", 1, true) then counters[AT_LANES] = counters[AT_LANES] .. name .. " " end
  count_policy(site, policy, 1)
  join_turn(lane)
  redis.call("ZADD", key("job-lanes", job.n), seq, name)
  return lane
end
