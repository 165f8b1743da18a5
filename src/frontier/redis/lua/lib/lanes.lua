-- lanes: what one job has waiting at one site, on one queue at one priority; there while anything of it waits or is
-- leased. A lane is named "job:site:priority:queue". How many of its tasks were never granted is the length of their
-- list, so that queueing behind others changes nothing but the list.
local SEQ, RANK, BACK, DELAYED, LEASED, SERVED, SCORE, POLICY = 1, 2, 3, 4, 5, 6, 7, 8
local JOB_NUMBER, SITE_NUMBER, PRIORITY, QUEUE = 9, 10, 11, 12

-- What this suffix is for, frontier.ts tells: suspects of a queue wait on one of their own.
local ALONE = "!alone"
local SUSPECT_AFTER = 2

-- The queue as people and idle workers know it.
local function base_queue(queue)
  return string.sub(queue, -#ALONE) == ALONE and string.sub(queue, 1, -#ALONE - 1) or queue
end

-- What a call keeps of a lane besides its row: how many waited when it began, and how many were never granted.
local function keep_lane(name, row)
  local lane = { name = name, row = row }
  step.lanes[name] = lane
  return lane
end

local function find_lane(name)
  local known = step.lanes[name]
  if known then return known end
  local packed = redis.call("GET", key("lane", name))
  return packed and keep_lane(name, cmsgpack.unpack(packed))
end

local function fresh_of(lane)
  lane.queued = lane.queued or redis.call("LLEN", key("tasks", lane.name))
  return lane.queued + lane.row[BACK]
end

-- So many more wait, or fewer.
local function count_waiting(lane, by)
  step.totals.pending = step.totals.pending + by
  step.waiting[lane.row[QUEUE]] = (step.waiting[lane.row[QUEUE]] or 0) + by
  lane.more = (lane.more or 0) + by
end

-- Priority in force: as enqueued, moved as far as the job's own priority has been moved.
local function rank_of(job, priority)
  return math.max(0, math.min(9, priority + job.priority - job.base_priority))
end

-- What a job asks for at a site, as one word, so that equal wishes can be counted.
local function policy_of(job, site)
  local paused = job.state == "paused" and " paused" or ""
  -- Work that asks nothing of a site (domain/offline-site.ts): UNLIMITED of domain/politeness.ts, and no robots.txt.
  if string.sub(site[NAME], 1, 1) == "#" then return "0 1 1000000" .. " 0" .. paused end
  local wish = job.has_rules == 1 and redis.call("HGET", key("rules", job.n), site[NAME])
  if not wish then wish = exact(job.interval) .. " " .. job.burst .. " " .. job.per_site end
  return wish .. " " .. job.robots .. paused
end

-- A site's POLICIES are "wish=count;" for each different wish of its lanes.
local function policies_of(site)
  local policies = {}
  for policy, count in string.gmatch(site[POLICIES], "([^=]+)=(%d+);") do policies[policy] = tonumber(count) end
  return policies
end

local function count_policy(site, policy, by)
  local policies, words = policies_of(site), {}
  policies[policy] = (policies[policy] or 0) + by
  for of, count in pairs(policies) do
    if count > 0 then words[#words + 1] = of .. "=" .. count .. ";" end
  end
  site[POLICIES] = table.concat(words)
  step.repoliced[site[NUMBER]] = true
end

-- A turn is what a site has on one queue at one rank. Its words in the site's row: name, when it was last served, its
-- place among the served, when it is due, how many lanes it has; and while that is one, the lane and its score (see
-- lane_score). Only when there are more do they stand in a sorted set of their own, until the turn is over.
local TURN_NAME, SERVED_AT, TURN_SERVED, DUE, LANES, ONLY, ONLY_SCORE = 0, 1, 2, 3, 4, 5, 6

local function turn_at(site, rank, queue)
  local name = rank .. ":" .. queue
  for at = TURNS, #site, TURN_WORDS do
    if site[at] == name then return at end
  end
end

-- Ranks a queue has ever had, as digits: a lease call looks at no others.
local function ranks_of(queue)
  return redis.call("HGET", key("ranks"), queue) or ""
end

local function add_turn(site, rank, queue)
  local ranks = ranks_of(queue)
  if not string.find(ranks, rank, 1, true) then redis.call("HSET", key("ranks"), queue, ranks .. rank) end
  local at = #site + 1
  local turn = { rank .. ":" .. queue, step.now, 0, NEVER, 0, false, false }
  for nth, word in ipairs(turn) do site[at + nth - 1] = word end
  return at
end

local function lanes_key(site, at)
  return key("lanes", site[NUMBER] .. ":" .. site[at])
end

local function lane_member(lane)
  return ordered(lane.row[SEQ]) .. lane.name
end

-- Puts a lane where its score says, or nowhere.
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

-- What a job has had at a site, or for its pages, packed: the lanes it has had there, with a space behind each, so that
-- what waits can be found; then counts, as JobSiteView has them.
local HAD_LANES, HAD_DONE, HAD_DEAD, HAD_PAGES, HAD_RECORDS, HAD_INVALID, HAD_BYTES, HAD_PAGE_AT = 1, 2, 3, 4, 5, 6, 7, 8

local function site_of_job(job, site)
  local name = string.sub(site[NAME], 1, 1) == "#" and string.sub(site[NAME], 2) or site[NAME]
  local known = step.job_sites[job.n .. " " .. name]
  if known then return known.had end
  local packed = redis.call("HGET", key("job-sites", job.n), name)
  known = { job = job.n, name = name, is_new = not packed }
  known.had = packed and cmsgpack.unpack(packed) or { "", 0, 0, 0, 0, 0, 0, false }
  step.job_sites[job.n .. " " .. name] = known
  return known.had
end

local function save_job_site(known)
  if known.is_new then redis.call("ZADD", key("job-site-names", known.job), 0, known.name) end
  redis.call("HSET", key("job-sites", known.job), known.name, cmsgpack.pack(known.had))
end

local function lane_for(job, site, queue, priority)
  local name = job.n .. ":" .. site[NUMBER] .. ":" .. priority .. ":" .. queue
  local known = find_lane(name)
  if known then return known end
  local policy, seq = policy_of(job, site), next_number("next_lane")
  local lane = keep_lane(name, {
    seq, rank_of(job, priority), 0, 0, 0, 0, false, policy, job.n, site[NUMBER], priority, queue,
  })
  lane.queued = 0
  local had = site_of_job(job, site)
  if not string.find(had[HAD_LANES], name .. " ", 1, true) then had[HAD_LANES] = had[HAD_LANES] .. name .. " " end
  count_policy(site, policy, 1)
  join_turn(lane)
  redis.call("ZADD", key("job-lanes", job.n), seq, name)
  return lane
end
