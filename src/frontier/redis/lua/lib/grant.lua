-- grant: choose sites that are due, and grant their tasks. Sites that are not due are never read.

-- How many tasks the call may still grant, how many of them at sites without a rate (`left_now`), and its lookahead.
local call = { left = 0, left_now = 0, lookahead = 0 }

-- Chooses the turns that are due and have tasks to grant, longest due first; no more than this call can use. The block
-- keeps its functions out of the 200 local variables that a script may have.
local open_turns
do
  -- Turns of sites with a rate are opened in groups of this size, because one term may take all tasks of a call.
  local PACED_AT_ONCE = 16

  -- How many tasks the site may get now.
  local function free_at(site)
    local ready = ready_at(site)
    if site[INTERVAL] == 0 then
      return ready > tx.now and 0 or math.min(call.left_now, call.left, health.concurrency(site) - site[IN_FLIGHT])
    end
    if ready > tx.now + call.lookahead then return 0 end
    -- After a backoff, the next response decides whether the site gets more than one request.
    local tasks = 1
    if site[INCIDENTS] == 0 then
      tasks = tasks_per_term(site[INTERVAL], site[BURST], health.slowdown(site), MAX_BATCH)
    end
    return math.max(0, math.min(call.left, tasks - unstarted_at(site)))
  end

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

  -- If the first retry of a lane is due, the score of the lane becomes its service number, so that one range reads all
  -- ready lanes in order. `save` computes the score again.
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

  local function open_turn(site, rank, queue)
    local needs_robots = site[WANTS_ROBOTS] == 1 and site[ROBOTS_FRESH] <= tx.now
    local turn = { site = site, at = turn_at(site, rank, queue), needs_robots = needs_robots, shares = {} }
    turn.free = has_precedence(site) and 0 or free_at(site)
    -- If robots.txt must be fetched, only one task is granted. It fetches the file, and the other tasks wait for that.
    if needs_robots then turn.free = math.min(1, turn.free) end
    if turn.free > 0 then turn.shares = open_lanes(turn, turn.free) end
    return turn
  end

  -- How many tasks a turn can grant.
  local function tasks_of(turn)
    local tasks = 0
    for _, share in ipairs(turn.shares) do tasks = tasks + share.fresh + share.retries end
    return math.min(turn.free, tasks)
  end

  -- Adds turns to `open` until these can take `enough` tasks. A turn of a site with a rate counts with all tasks that
  -- it can grant, another turn with one. Skips sites that this call has already served at a better rank, and sites
  -- whose only job was just paused or has passed its deadline.
  local function open_until(open, enough, is_paced, queue, rank)
    local due, due_by = due_key(is_paced, rank .. ":" .. queue), exact(tx.now + (is_paced and call.lookahead or 0))
    local used, read, skipped = 0, 0, 0
    while used < enough and skipped < MAX_BATCH do
      local wanted = math.min(enough - used, is_paced and PACED_AT_ONCE or MAX_BATCH)
      local members = redis.call("ZRANGEBYSCORE", due, "-inf", due_by, "LIMIT", read, wanted)
      for _, member in ipairs(members) do
        local turn = open_turn(site_numbered(number_in(member, 7)), rank, queue)
        if #turn.shares == 0 then skipped = skipped + 1
        elseif used < enough then
          open[#open + 1] = turn
          used = used + (is_paced and tasks_of(turn) or 1)
        end
      end
      if #members < wanted then break end
      read = read + wanted
    end
  end

  local function is_before(one, other)
    local due, other_due = one.site[one.at + DUE], other.site[other.at + DUE]
    if due ~= other_due then return due < other_due end
    local served, other_served = one.site[one.at + TURN_SERVED], other.site[other.at + TURN_SERVED]
    if served ~= other_served then return served < other_served end
    return one.site[NUMBER] < other.site[NUMBER]
  end

  function open_turns(queue, rank)
    local open = {}
    open_until(open, math.min(call.left_now, call.left), false, queue, rank)
    local unpaced = #open
    open_until(open, call.left, true, queue, rank)
    if unpaced > 0 and #open > unpaced then table.sort(open, is_before) end
    return open
  end
end

local function least_taken(turn)
  local best
  for _, share in ipairs(turn.shares) do
    if share.taken < share.fresh + share.retries and (not best or share.taken < best.taken) then best = share end
  end
  return best
end

local function give_one(turn)
  local is_paced = turn.site[INTERVAL] > 0
  local is_free = turn.free > 0 and call.left > 0 and (is_paced or call.left_now > 0)
  local share = is_free and least_taken(turn)
  if not share then return false end
  share.taken, turn.free, call.left = share.taken + 1, turn.free - 1, call.left - 1
  if not is_paced then call.left_now = call.left_now - 1 end
  return true
end

-- Gives each due site with a rate all tasks of its term, because a worker that holds more sites than it can serve keeps
-- other workers from them. Gives one task to each site without a rate in turn. Within a site, jobs take turns.
local function distribute(turns)
  local gave = true
  while gave do
    gave = false
    for _, turn in ipairs(turns) do
      local gives = give_one(turn)
      gave = gave or gives
      while gives and turn.site[INTERVAL] > 0 do gives = give_one(turn) end
    end
  end
end

local grants = { leases = {}, expiry = {}, ids = {}, count = 0 }

-- Grants the tasks that `distribute` has assigned to a turn, and adds the site, its term and the tasks to the reply.
local take_turn
do
  -- Takes the oldest tasks of the two lists: those that were granted before and those that were not.
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

  local function add_grant(id, value, lease_until)
    local nth = grants.count + 1
    grants.count, grants.ids[nth] = nth, id
    grants.leases[2 * nth - 1], grants.leases[2 * nth] = id, value
    grants.expiry[2 * nth - 1], grants.expiry[2 * nth] = lease_until, ordered(tonumber(id))
  end

  -- Grants tasks that were never granted before. The reply contains them as they are in the list, which takes 3 µs for
  -- each task; packing them again takes 8 µs. `turn.starting`: how many of the next tasks are not granted ahead.
  local function grant_first(turn, lane, count, worker, lease_until, reply)
    local starting, to = turn.starting, #reply
    local head = starting > 0 and cmsgpack.pack({ lane.name, worker })
    local ahead = starting < count and cmsgpack.pack({ lane.name, worker, 1 })
    local popped = redis.call("LPOP", key("tasks", lane.name), count)
    for nth, packed in ipairs(popped) do
      add_grant(task_id_of(packed), (nth <= starting and head or ahead) .. packed, lease_until)
      reply[to + nth] = packed
    end
    lane.queued, turn.starting = lane.queued - #popped, starting - #popped
  end

  local function grant_again(turn, lane, task, worker, lease_until, reply)
    local is_ahead = turn.starting <= 0
    turn.starting = turn.starting - 1
    task.token, task.crashes = task.token + 1, task.crashes + (is_ahead and 0 or 1)
    local id = string.format("%.0f", task.id)
    add_grant(id, cmsgpack.pack({
      task.token, task.failures, task.crashes, task.not_before, task.history, task.body, lane.name, worker,
      is_ahead and 1 or nil,
    }), lease_until)
    reply[#reply + 1] = "!" .. id .. " " .. task.token .. " " .. task.failures .. " " .. task.body
  end

  local function take_tasks(turn, share, worker, lease_until, reply)
    local lane, fresh = share.lane, math.min(share.fresh, share.taken)
    if fresh == share.taken and lane.row[BACK] == 0 then
      return grant_first(turn, lane, fresh, worker, lease_until, reply)
    end
    local tasks = take_oldest(lane, fresh)
    if share.taken > fresh then take_retries(lane, share.taken - fresh, tasks) end
    table.sort(tasks, function(one, other) return one.id < other.id end)
    for _, task in ipairs(tasks) do grant_again(turn, lane, task, worker, lease_until, reply) end
  end

  local function take_share(turn, share, worker, lease_until, reply)
    local site, lane, row = turn.site, share.lane, share.lane.row
    local job, fresh = job_numbered(row[JOB_NUMBER]), math.min(share.fresh, share.taken)
    reply[#reply + 1] = job.id
    reply[#reply + 1] = share.taken
    take_tasks(turn, share, worker, lease_until, reply)
    row[LEASED], row[SERVED] = row[LEASED] + share.taken, next_number("next_served")
    lane.rescore = true
    count_waiting(lane, -share.taken)
    job.queued, job.delayed = job.queued - fresh, job.delayed - (share.taken - fresh)
    job.leased = job.leased + share.taken
    site[IN_FLIGHT] = site[IN_FLIGHT] + share.taken
  end

  function take_turn(turn, worker, lease_ms, reply)
    local shares = 0
    for _, share in ipairs(turn.shares) do
      if share.taken > 0 then shares = shares + 1 end
    end
    if shares == 0 then return end
    local site, at, to = turn.site, turn.at, #reply
    local has_term = site[INTERVAL] > 0
    -- The first task of a term starts at once, unless the worker has older tasks of the site.
    turn.starting = has_term and (unstarted_at(site) == 0 and 1 or 0) or NEVER
    reply[to + 1], reply[to + 2] = site[NAME], has_term and open_term(site, worker) or ""
    reply[to + 3], reply[to + 4] = turn.needs_robots and 1 or 0, shares
    local first, lease_until = grants.count + 1, exact(tx.now + lease_ms)
    for _, share in ipairs(turn.shares) do
      if share.taken > 0 then take_share(turn, share, worker, lease_until, reply) end
    end
    if turn.needs_robots then site[ROBOTS_TASK] = tonumber(grants.ids[first]) end
    tx.moved[site[NUMBER] .. " " .. site[at]] = ordered(site[at + TURN_SERVED]) .. ordered(site[NUMBER])
    site[at + SERVED_AT], site[at + TURN_SERVED] = tx.now, next_number("next_served")
  end
end

local function save_grants(worker)
  redis.call("HSET", key("leases"), unpack(grants.leases))
  redis.call("ZADD", key("expiry"), unpack(grants.expiry))
  redis.call("SADD", key("held", worker), unpack(grants.ids))
  redis.call("HINCRBY", key("holders"), worker, grants.count)
end
