-- turns: sites that are due, and what is taken of them. Sites that are not due are never looked at.
local function open_lane(name, room)
  local lane = find_lane(name)
  -- A pause, a cancel or a deadline reaches the lanes in bounded steps; until it has, they are passed over, once each.
  if not may_send(job_numbered(lane.row[JOB_NUMBER])) then
    lane.rescore = true
    return nil
  end
  local fresh, retries = fresh_of(lane), 0
  if lane.row[DELAYED] > 0 then
    retries = math.min(room, redis.call("ZCOUNT", key("delayed", name), "-inf", exact(step.now)))
  end
  if fresh + retries == 0 then return nil end
  return { lane = lane, fresh = fresh, retries = retries, taken = 0 }
end

-- Lanes whose retry time has come join those that may go, so that one range reads them in order; save puts them back.
local function wake_lanes(lanes)
  for _, member in ipairs(redis.call("ZRANGEBYSCORE", lanes, 1e12, exact(step.now), "LIMIT", 0, BATCH_MOST)) do
    local lane = find_lane(string.sub(member, 7))
    place_lane(lane, lane.row[SERVED])
    lane.rescore = true
  end
end

local function open_lanes(turn, room)
  local site, at = turn.site, turn.at
  if site[at + ONLY] then return { open_lane(site[at + ONLY], room) } end
  local lanes = lanes_key(site, at)
  wake_lanes(lanes)
  local shares, passed = {}, 0
  while #shares < room and passed < BATCH_MOST do
    local wanted = room - #shares
    local members = redis.call("ZRANGEBYSCORE", lanes, "-inf", "(1e12", "LIMIT", passed + #shares, wanted)
    for _, member in ipairs(members) do
      local share = open_lane(string.sub(member, 7), room)
      if share then shares[#shares + 1] = share else passed = passed + 1 end
    end
    if #members < wanted then break end
  end
  return shares
end

local function open_turn(site, rank, queue, most)
  local asks = site[WANTS_ROBOTS] == 1 and site[ROBOTS_FRESH] <= step.now
  local turn = { site = site, at = turn_at(site, rank, queue), asks = asks, shares = {} }
  turn.room = room_now(site, asks and 1 or most)
  if turn.room > 0 then turn.shares = open_lanes(turn, turn.room) end
  return turn
end

-- Sites that are due and have something to give. Passed over are those this very call has served at a better rank, and
-- those whose only job was just paused or ran out of time.
local function open_turns(queue, rank, most)
  local due, now = key("due", rank .. ":" .. queue), exact(step.now)
  local open, passed = {}, 0
  while #open < most and passed < BATCH_MOST do
    local wanted = most - #open
    local members = redis.call("ZRANGEBYSCORE", due, "-inf", now, "LIMIT", passed + #open, wanted)
    for _, member in ipairs(members) do
      local turn = open_turn(site_numbered(number_in(member, 7)), rank, queue, most)
      if #turn.shares > 0 then open[#open + 1] = turn else passed = passed + 1 end
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

-- The oldest first, of those that were handed back and those that were never granted.
local function take_mixed(lane, count)
  local back, fresh = key("back", lane.name), key("tasks", lane.name)
  local tasks = {}
  while #tasks < count do
    local returned = lane.row[BACK] > 0 and redis.call("ZRANGE", back, 0, 0)[1]
    local head = redis.call("LINDEX", fresh, 0)
    if returned and not (head and tonumber(id_of(head)) < number_in(returned)) then
      redis.call("ZREM", back, returned)
      lane.row[BACK] = lane.row[BACK] - 1
      tasks[#tasks + 1] = unpack_task(returned)
    else
      redis.call("LPOP", fresh)
      local id = id_of(head)
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
  for _, member in ipairs(redis.call("ZRANGEBYSCORE", delayed, "-inf", exact(step.now), "LIMIT", 0, count)) do
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

-- Tasks that were never granted go out as they lay in the list: 3 µs each where packing them anew took 8.
local function grant_first(lane, count, worker, lease_until, reply)
  local head, to = cmsgpack.pack({ lane.name, worker }), #reply
  local popped = redis.call("LPOP", key("tasks", lane.name), count)
  for nth, packed in ipairs(popped) do
    add_grant(id_of(packed), head .. packed, lease_until)
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
  local tasks = take_mixed(lane, fresh)
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
    for _ = 1, share.taken do take_slot(site, step.now) end
  end
  row[LEASED], row[SERVED] = row[LEASED] + share.taken, next_number("next_served")
  lane.rescore = true
  count_waiting(lane, -share.taken)
  job.queued, job.delayed = job.queued - fresh, job.delayed - (share.taken - fresh)
  job.leased = job.leased + share.taken
  site[IN_FLIGHT] = site[IN_FLIGHT] + share.taken
end

-- Adds the site and its tasks to the reply; the answer is how many there were.
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
  reply[to + 5], reply[to + 6] = turn.asks and 1 or 0, shares
  local first, lease_until = grants.count + 1, exact(clock() + lease_ms)
  for _, share in ipairs(turn.shares) do
    if share.taken > 0 then take_share(site, share, worker, lease_until, reply) end
  end
  if turn.asks then site[ASKER] = tonumber(grants.ids[first]) end
  step.moved[site[NUMBER] .. " " .. site[at]] = ordered(site[at + TURN_SERVED]) .. ordered(site[NUMBER])
  site[at + SERVED_AT], site[at + TURN_SERVED] = clock(), next_number("next_served")
  return taken
end

local function keep_grants(worker)
  redis.call("HSET", key("leases"), unpack(grants.leases))
  redis.call("ZADD", key("expiry"), unpack(grants.expiry))
  redis.call("SADD", key("held", worker), unpack(grants.ids))
  redis.call("HINCRBY", key("holders"), worker, grants.count)
end
