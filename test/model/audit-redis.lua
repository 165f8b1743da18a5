-- Compares the counts that a Redis broker stores with the tasks they count, and replies with the differences. For tests
-- only: it reads everything.
-- KEYS  1 the shard
local shard, wrong = KEYS[1], {}
local function check(right, ...)
  if not right then wrong[#wrong + 1] = table.concat({ ... }, " ") end
end
local function keys(name) return redis.call("KEYS", (string.gsub(shard, "[{}]", "?")) .. ":" .. name) end
local function after(key, name) return string.sub(key, #shard + #name + 3) end

local lanes, in_flight, jobs, at_site, per_queue, pending = {}, {}, {}, {}, {}, 0
local function count(of, name, by) of[name] = (of[name] or 0) + by end

local sites = {}
for _, key in ipairs(keys("site:*")) do sites[after(key, "site")] = cmsgpack.unpack(redis.call("GET", key)) end
-- The fields of a turn in a site's row, by name.
local function turns_of(site)
  local turns = {}
  for at = 19, #site, 7 do
    turns[site[at]] = {
      served = site[at + 2], due = site[at + 3], lanes = site[at + 4], only = site[at + 5], score = site[at + 6],
    }
  end
  return turns
end

-- The queue of suspects contains all suspects and no other tasks.
local function check_queue(lane, crashes, ...)
  check((string.sub(lane, -6) == "!alone") == (crashes >= 2), "lane", lane, "has a task with", crashes, "crashes", ...)
end
local function check_queues(name)
  for _, list in ipairs({ "back", "delayed" }) do
    for _, member in ipairs(redis.call("ZRANGE", shard .. ":" .. list .. ":" .. name, 0, -1)) do
      check_queue(name, cmsgpack.unpack(string.sub(member, 7))[3], "in", list)
    end
  end
end

for _, key in ipairs(keys("lane:*")) do
  local name = after(key, "lane")
  local row = cmsgpack.unpack(redis.call("GET", key))
  local job, site, priority, queue = string.match(name, "^(%d+):(%d+):(%d+):(.*)$")
  check(job == tostring(row[9]) and site == tostring(row[10]) and priority == tostring(row[11]) and queue == row[12],
    "lane", name, "has a row with other values than its name")
  lanes[name] = { leased = row[5], found = 0, job = job, site = site, queue = queue, rank = row[2] }
  check_queues(name)
  local queued, back = redis.call("LLEN", shard .. ":tasks:" .. name), redis.call("ZCARD", shard .. ":back:" .. name)
  local delayed = redis.call("ZCARD", shard .. ":delayed:" .. name)
  check(row[3] == back and row[4] == delayed, "lane", name, "has a wrong count of waiting tasks")
  check(queued + back + delayed + row[5] > 0, "lane", name, "is empty")
  check(redis.call("ZSCORE", shard .. ":job-lanes:" .. job, name), "lane", name, "is not in the set of its job")
  local turn = turns_of(sites[site])[row[2] .. ":" .. queue]
  local set = shard .. ":lanes:" .. site .. ":" .. row[2] .. ":" .. queue
  local score = tonumber(redis.call("ZSCORE", set, struct.pack(">I6", row[1]) .. name) or nil) or false
  if turn.only then
    check(turn.only == name and score == false, "lane", name, "is not the only one of its turn")
    score = turn.score
  end
  check(score == row[7], "lane", name, "has the score", tostring(score))
  count(jobs, job .. " queued", queued + back)
  count(jobs, job .. " delayed", delayed)
  count(at_site, site, queued + back + delayed)
  count(per_queue, queue, queued + back + delayed)
  pending = pending + queued + back + delayed
end

local leases = redis.call("HGETALL", shard .. ":leases")
for at = 1, #leases, 2 do
  local value = leases[at + 1]
  local lane_name, worker
  -- The first lease of a task; 0x93 if it was granted ahead of its turn.
  if string.byte(value) == 0x92 or string.byte(value) == 0x93 then
    local _, holder = cmsgpack.unpack_one(value)
    lane_name, worker = holder[1], holder[2]
    check_queue(lane_name, 0, "leased")
  else
    local row = cmsgpack.unpack(value)
    local is_ahead = row[9] ~= nil
    lane_name, worker = row[7], row[8]
    check_queue(lane_name, row[3] - (is_ahead and 0 or 1), "leased")
  end
  local lane = lanes[lane_name]
  check(lane, "task", leases[at], "is leased from a missing lane")
  if lane then
    lane.found = lane.found + 1
    count(in_flight, lane.site, 1)
    count(jobs, lane.job .. " leased", 1)
  end
  check(redis.call("ZSCORE", shard .. ":expiry", struct.pack(">I6", leases[at])), "task", leases[at], "has no expiry")
  local held_by_worker = redis.call("SISMEMBER", shard .. ":held:" .. worker, leases[at]) == 1
  check(held_by_worker, "task", leases[at], "is not held by its worker")
end
check(redis.call("ZCARD", shard .. ":expiry") == #leases / 2, "expiry has more entries than there are leases")
local held = 0
for _, key in ipairs(keys("held:*")) do
  local size = redis.call("SCARD", key)
  held = held + size
  check(tonumber(redis.call("HGET", shard .. ":holders", after(key, "held"))) == size, key, "has a wrong count")
end
check(held == #leases / 2, "workers hold more tasks than there are leases")
for name, lane in pairs(lanes) do check(lane.leased == lane.found, "lane", name, "has a wrong count of leases") end

local due_total = 0
for n, row in pairs(sites) do
  check(row[3] == (in_flight[n] or 0), "site", row[1], "has a wrong count of requests in flight")
  check((row[17] == false) == (row[18] == 0), "site", row[1], "has a returned term with an end, or a term without one")
  check(row[16] > 0 or row[17] == false, "site", row[1], "has a term without a number")
  local waiting = tonumber(redis.call("HGET", shard .. ":site-waiting", n) or 0)
  check(waiting == (at_site[n] or 0), "site", row[1], "has a wrong count of waiting tasks")
  local policies, turns = 0, {}
  for of in string.gmatch(row[14], "=(%d+);") do policies = policies + tonumber(of) end
  for _, lane in pairs(lanes) do
    if lane.site == n then
      policies = policies - 1
      count(turns, lane.rank .. ":" .. lane.queue, 1)
    end
  end
  check(policies == 0, "site", row[1], "has a wrong count of policies")
  for name, turn in pairs(turns_of(row)) do
    check(turn.lanes == turns[name], "site", row[1], "has a wrong count of lanes in turn", name)
    local member = struct.pack(">I6", turn.served) .. struct.pack(">I6", tonumber(n))
    local set = row[6] > 0 and ":due-paced:" or ":due:"
    local due = tonumber(redis.call("ZSCORE", shard .. set .. name, member) or nil) or 9e15
    check(due == turn.due, "site", row[1], "is due at", tostring(due))
    due_total = due_total + (turn.due < 9e15 and 1 or 0)
    turns[name] = nil
  end
  check(not next(turns), "site", row[1], "has lanes without a turn")
end
for _, key in ipairs(keys("job:*")) do
  local n = after(key, "job")
  local row = cmsgpack.unpack(redis.call("GET", key))
  for nth, name in ipairs({ "queued", "delayed", "leased" }) do
    check(row[22 + nth] == (jobs[n .. " " .. name] or 0), "job", n, "has a wrong count of", name)
  end
end
for queue, waiting in pairs(per_queue) do
  check(tonumber(redis.call("HGET", shard .. ":waiting", queue) or 0) == waiting, "queue", queue, "has a wrong count")
end
check(tonumber(redis.call("HGET", shard .. ":meta", "pending")) == pending, "pending has a wrong count")
check(redis.call("ZCARD", shard .. ":unsynced") == 0, "some jobs are still out of sync")
check(redis.call("SCARD", shard .. ":untold") == 0, "some jobs have changes that other shards have not received")
for _, set in ipairs({ "due:*", "due-paced:*" }) do
  for _, key in ipairs(keys(set)) do due_total = due_total - redis.call("ZCARD", key) end
end
check(due_total == 0, -due_total, "turns in the due sets that no site has")
return wrong
