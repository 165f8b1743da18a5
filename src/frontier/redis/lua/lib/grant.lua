-- grant: choose sites that are due, and grant their tasks. Sites that are not due are never read.
local function open_lane(name, max)
  local lane = find_lane(name)
  -- A pause, cancel or deadline reaches the lanes later, in bounded calls, so the job is checked here.
  if not may_send(job_numbered(lane.row[JOB_NUMBER])) then
    lane.rescore = true
    return nil
  end
  local fresh, retries = count_fresh(lane), 0
  if lane.row[DELAYED] > 0 then
    retries = math.min(max, redis.call("ZCOUNT", key("delayed", name), "-inf", exact(tx.now)))
  end
  if fresh + retries == 0 then return nil end
  return { lane = lane, fresh = fresh, retries = retries, taken = 0 }
end

-- If the retry of a lane is due, its score becomes its service number, so that one range reads all lanes in order.
-- `save` resets the score.
local function wake_lanes(lanes)
  for _, member in ipairs(redis.call("ZRANGEBYSCORE", lanes, 1e12, exact(tx.now), "LIMIT", 0, MAX_BATCH)) do
    local lane = find_lane(string.sub(member, 7))
    place_lane(lane, lane.row[SERVED])
    lane.rescore = true
  end
end

local function open_lanes(turn, max)
  local site, at = turn.site, turn.at
  if site[at + ONLY] then return { open_lane(site[at + ONLY], max) } end
  local lanes = lanes_key(site, at)
  wake_lanes(lanes)
  local shares, skipped = {}, 0
  while #shares < max and skipped < MAX_BATCH do
    local wanted = max - #shares
    local members = redis.call("ZRANGEBYSCORE", lanes, "-inf", "(1e12", "LIMIT", skipped + #shares, wanted)
    for _, member in ipairs(members) do
      local share = open_lane(string.sub(member, 7), max)
      if share then shares[#shares + 1] = share else skipped = skipped + 1 end
    end
    if #members < wanted then break end
  end
  return shares
end

local function open_turn(site, rank, queue, max)
  local needs_robots = site[WANTS_ROBOTS] == 1 and site[ROBOTS_FRESH] <= tx.now
  local turn = { site = site, at = turn_at(site, rank, queue), needs_robots = needs_robots, shares = {} }
  turn.free = capacity_now(site, needs_robots and 1 or max)
  if turn.free > 0 then turn.shares = open_lanes(turn, turn.free) end
  return turn
end

-- Up to `max` turns that are due and have tasks to grant. Skips sites that this call has already served at a better
-- rank, and sites whose only job was just paused or has passed its deadline.
local function open_turns(queue, rank, max)
  local due, now = key("due", rank .. ":" .. queue), exact(tx.now)
  local open, skipped = {}, 0
  while #open < max and skipped < MAX_BATCH do
    local wanted = max - #open
    local members = redis.call("ZRANGEBYSCORE", due, "-inf", now, "LIMIT", skipped + #open, wanted)
    for _, member in ipairs(members) do
      local turn = open_turn(site_numbered(number_in(member, 7)), rank, queue, max)
      if #turn.shares > 0 then open[#open + 1] = turn else skipped = skipped + 1 end
    end
    if #members < wanted then break end
  end
  return open
end

local function least_taken(turn)
  local best
  for _, share in ipairs(turn.shares) do
    if share.taken < share.fresh + share.retries and (not best or share.taken < best.taken) then best = share end
  end
  return best
end

-- Takes the oldest tasks, whether they were granted before or not.
local function take_oldest(lane, count)
  local back, fresh = key("back", lane.name), key("tasks", lane.name)
  local tasks = {}
  while #tasks < count do
    local returned = lane.row[BACK] > 0 and redis.call("ZRANGE", back, 0, 0)[1]
    local head = redis.call("LINDEX", fresh, 0)
    if returned and not (head and tonumber(task_id_of(head)) < number_in(returned)) then
      redis.call("ZREM", back, returned)
      lane.row[BACK] = lane.row[BACK] - 1
      tasks[#tasks + 1] = unpack_task(returned)
    else
      redis.call("LPOP", fresh)
      local id = task_id_of(head)
      tasks[#tasks + 1] = {
        id = tonumber(id), token = 0, failures = 0, crashes = 0, not_before = false, history = false,
        body = string.sub(head, #id + 2),
      }
      lane.queued = lane.queued - 1
    end
  end
  return tasks
end

local function take_retries(lane, count, tasks)
  local delayed = key("delayed", lane.name)
  for _, member in ipairs(redis.call("ZRANGEBYSCORE", delayed, "-inf", exact(tx.now), "LIMIT", 0, count)) do
    redis.call("ZREM", delayed, member)
    tasks[#tasks + 1] = unpack_task(member)
  end
  lane.row[DELAYED] = lane.row[DELAYED] - count
end

local grants = { leases = {}, expiry = {}, ids = {}, count = 0 }

local function add_grant(id, value, lease_until)
  local nth = grants.count + 1
  grants.count, grants.ids[nth] = nth, id
  grants.leases[2 * nth - 1], grants.leases[2 * nth] = id, value
  grants.expiry[2 * nth - 1], grants.expiry[2 * nth] = lease_until, ordered(tonumber(id))
end

-- Tasks that were never granted are sent as they are in the list, which takes 3 µs each; packing them again took 8 µs.
local function grant_first(lane, count, worker, lease_until, reply)
  local head, to = cmsgpack.pack({ lane.name, worker }), #reply
  local popped = redis.call("LPOP", key("tasks", lane.name), count)
  for nth, packed in ipairs(popped) do
    add_grant(task_id_of(packed), head .. packed, lease_until)
    reply[to + nth] = packed
  end
  lane.queued = lane.queued - #popped
end

local function grant_again(lane, task, worker, lease_until, reply)
  task.token, task.crashes = task.token + 1, task.crashes + 1
  local id = string.format("%.0f", task.id)
  add_grant(id, cmsgpack.pack({
    task.token, task.failures, task.crashes, task.not_before, task.history, task.body, lane.name, worker,
  }), lease_until)
  reply[#reply + 1] = "!" .. id .. " " .. task.token .. " " .. task.failures .. " " .. task.body
end

local function take_tasks(share, worker, lease_until, reply)
  local lane, fresh = share.lane, math.min(share.fresh, share.taken)
  if fresh == share.taken and lane.row[BACK] == 0 then
    return grant_first(lane, fresh, worker, lease_until, reply)
  end
  local tasks = take_oldest(lane, fresh)
  if share.taken > fresh then take_retries(lane, share.taken - fresh, tasks) end
  table.sort(tasks, function(one, other) return one.id < other.id end)
  for _, task in ipairs(tasks) do grant_again(lane, task, worker, lease_until, reply) end
end

local function take_share(site, share, worker, lease_until, reply)
  local lane, row = share.lane, share.lane.row
  local job, fresh = job_numbered(row[JOB_NUMBER]), math.min(share.fresh, share.taken)
  reply[#reply + 1] = job.id
  reply[#reply + 1] = share.taken
  take_tasks(share, worker, lease_until, reply)
  if site[INTERVAL] > 0 then
    for _ = 1, share.taken do take_slot(site, tx.now) end
  end
  row[LEASED], row[SERVED] = row[LEASED] + share.taken, next_number("next_served")
  lane.rescore = true
  count_waiting(lane, -share.taken)
  job.queued, job.delayed = job.queued - fresh, job.delayed - (share.taken - fresh)
  job.leased = job.leased + share.taken
  site[IN_FLIGHT] = site[IN_FLIGHT] + share.taken
end

-- Adds the site and its tasks to the reply. Returns the number of tasks.
local function take_turn(turn, worker, lease_ms, reply)
  local taken, shares = 0, 0
  for _, share in ipairs(turn.shares) do
    taken = taken + share.taken
    if share.taken > 0 then shares = shares + 1 end
  end
  if taken == 0 then return 0 end
  local site, at, to = turn.site, turn.at, #reply
  reply[to + 1], reply[to + 2], reply[to + 3] = site[NAME], exact(site[ARRIVAL]), exact(site[INTERVAL])
  reply[to + 4] = site[INTERVAL] == 0 and exact(site[BLOCKED_UNTIL]) or site[BURST]
  reply[to + 5], reply[to + 6] = turn.needs_robots and 1 or 0, shares
  local first, lease_until = grants.count + 1, exact(clock() + lease_ms)
  for _, share in ipairs(turn.shares) do
    if share.taken > 0 then take_share(site, share, worker, lease_until, reply) end
  end
  if turn.needs_robots then site[ROBOTS_TASK] = tonumber(grants.ids[first]) end
  tx.moved[site[NUMBER] .. " " .. site[at]] = ordered(site[at + TURN_SERVED]) .. ordered(site[NUMBER])
  site[at + SERVED_AT], site[at + TURN_SERVED] = clock(), next_number("next_served")
  return taken
end

local function save_grants(worker)
  redis.call("HSET", key("leases"), unpack(grants.leases))
  redis.call("ZADD", key("expiry"), unpack(grants.expiry))
  redis.call("SADD", key("held", worker), unpack(grants.ids))
  redis.call("HINCRBY", key("holders"), worker, grants.count)
end
