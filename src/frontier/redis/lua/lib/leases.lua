-- leases: end leases that are settled, released, expired or abandoned. A waiting task that was granted before is stored
-- as its id, followed by the packed list of token, failures, crashes, not_before, history and body. A lease is stored
-- as a packed list of the same fields, plus lane and worker. The first lease of a task, by far the most common, is
-- stored as the packed list of lane and worker, followed by the task as it was in the list of its lane. If a task was
-- granted ahead of its turn, the packed list has one more entry, and `crashes` does not count the lease.
local MAX_CRASHES = 3
local FIRST_LEASE, FIRST_AHEAD = 0x92, 0x93 -- first byte of a packed list with 2 and with 3 entries
local ended = { ids = {}, members = {}, workers = {}, queues = {}, count = 0 }
local last_head, last_holder

local function is_first(value)
  local start = string.byte(value)
  return start == FIRST_AHEAD or start == FIRST_LEASE
end

-- Lane and worker of a first lease. Most leases in a call have the same lane and worker, so the last ones are cached.
local function holder_of(value)
  if last_head and string.sub(value, 1, #last_head) == last_head then return last_holder end
  local after, holder = cmsgpack.unpack_one(value)
  last_head, last_holder = string.sub(value, 1, after), holder
  return holder
end

local function read_lease(id, value)
  if is_first(value) then
    local holder = holder_of(value)
    local ahead = holder[3] ~= nil
    return {
      id = tonumber(id), token = 1, failures = 0, crashes = ahead and 0 or 1, not_before = false, history = false,
      body = string.sub(value, #last_head + #id + 2), lane = holder[1], worker = holder[2], ahead = ahead,
    }
  end
  local row = cmsgpack.unpack(value)
  return {
    id = tonumber(id), token = row[1], failures = row[2], crashes = row[3], not_before = row[4], history = row[5],
    body = row[6], lane = row[7], worker = row[8], ahead = row[9] ~= nil,
  }
end

-- The task of a claim; nil if the claim is stale. Without a token, the task of the current lease.
local function find_claim(id, token)
  local value = not ended[id] and redis.call("HGET", key("leases"), id)
  local task = value and read_lease(id, value)
  if task and (not token or task.token == tonumber(token)) then return task end
end

local function pack_task(task)
  return ordered(task.id) .. cmsgpack.pack({
    task.token, task.failures, task.crashes, task.not_before, task.history, task.body,
  })
end

local function unpack_task(member)
  local row = cmsgpack.unpack(string.sub(member, 7))
  return {
    id = number_in(member), token = row[1], failures = row[2], crashes = row[3], not_before = row[4],
    history = row[5], body = row[6],
  }
end

-- Removes a task from the counts of leased tasks. The caller decides what happens to the task next.
local function end_lease(id, lane_name, worker)
  local lane = find_lane(lane_name)
  local row = lane.row
  local job, site = job_numbered(row[JOB_NUMBER]), site_numbered(row[SITE_NUMBER])
  row[LEASED], job.leased, site[IN_FLIGHT] = row[LEASED] - 1, job.leased - 1, site[IN_FLIGHT] - 1
  local number, nth = tonumber(id), ended.count + 1
  -- If this task should have fetched robots.txt and did not, the task of the next grant at the site must fetch it.
  if site[ROBOTS_TASK] == number then site[ROBOTS_TASK] = 0 end
  ended[id], ended.count, ended.ids[nth], ended.members[nth] = true, nth, id, ordered(number)
  local queue = base_queue(row[QUEUE])
  ended.queues[queue] = (ended.queues[queue] or 0) + 1
  local ids = ended.workers[worker]
  if not ids then
    ids = {}
    ended.workers[worker] = ids
  end
  ids[#ids + 1] = id
  return lane, job, site
end

local function delete_leases()
  if ended.count == 0 then return end
  redis.call("HDEL", key("leases"), unpack(ended.ids))
  redis.call("ZREM", key("expiry"), unpack(ended.members))
  for worker, ids in pairs(ended.workers) do
    redis.call("SREM", key("held", worker), unpack(ids))
    if redis.call("HINCRBY", key("holders"), worker, -#ids) <= 0 then redis.call("HDEL", key("holders"), worker) end
  end
end

-- Appends an attempt to a task's history, a JSON list. `fields` are its JSON fields without braces.
local function append_attempt(task, fields)
  local line = '{"at":' .. exact(tx.now) .. "," .. fields .. "}"
  if not task.history then return "[" .. line .. "]" end
  return string.sub(task.history, 1, -2) .. "," .. line .. "]"
end

local function add_dead_letter(task, lane, job, site, reason, status)
  redis.call("HSET", key("dead"), task.id, cmsgpack.pack({
    job.n, site[NAME], base_queue(lane.row[QUEUE]), lane.row[PRIORITY], reason, status, tx.now, task.history or "[]",
    task.body, task.token,
  }))
  redis.call("ZADD", key("dead-order"), task.id, task.id)
  redis.call("ZADD", key("job-dead", job.n), task.id, task.id)
  job.dead = job.dead + 1
  local counters = job_site_counters(job, site)
  counters[AT_DEAD] = counters[AT_DEAD] + 1
end

-- Counts the results of a successful task, in its job and at its site.
local function tally(job, site, pages, records, invalid, bytes)
  local counters = job_site_counters(job, site)
  job.done, counters[AT_DONE] = job.done + 1, counters[AT_DONE] + 1
  job.pages, counters[AT_PAGES] = job.pages + pages, counters[AT_PAGES] + pages
  job.records, counters[AT_RECORDS] = job.records + records, counters[AT_RECORDS] + records
  job.invalid, counters[AT_INVALID] = job.invalid + invalid, counters[AT_INVALID] + invalid
  job.bytes, counters[AT_BYTES] = job.bytes + bytes, counters[AT_BYTES] + bytes
  if tonumber(pages) > 0 then counters[AT_LAST_PAGE] = tx.now end
end

local function delay(task, lane, job)
  redis.call("ZADD", key("delayed", lane.name), task.not_before, pack_task(task))
  lane.row[DELAYED], job.delayed = lane.row[DELAYED] + 1, job.delayed + 1
  lane.rescore = true
  count_waiting(lane, 1)
end

-- Queues a task in the order of its id.
local function requeue(task, lane, job)
  redis.call("ZADD", key("back", lane.name), task.id, pack_task(task))
  lane.row[BACK], job.queued = lane.row[BACK] + 1, job.queued + 1
  lane.rescore = true
  count_waiting(lane, 1)
end

-- The lane in which the task waits next: suspects have a lane of their own.
local function lane_after(task, lane, job, site)
  local queue = base_queue(lane.row[QUEUE]) .. (task.crashes >= SUSPECT_AFTER and ALONE or "")
  return queue == lane.row[QUEUE] and lane or lane_for(job, site, queue, lane.row[PRIORITY])
end

-- Queues a task again, suspects on their own queue. A task that has crashed MAX_CRASHES workers becomes a dead letter,
-- and a task of a stopped job is cancelled. A retry stays delayed.
local function return_task(task, is_crash)
  local lane, job, site = end_lease(string.format("%.0f", task.id), task.lane, task.worker)
  task.crashes = task.crashes - (task.ahead and 0 or 1) + (is_crash and 1 or 0)
  if is_crash and task.crashes >= MAX_CRASHES then
    local detail = cjson.encode("held by " .. task.worker)
    task.history = append_attempt(task, '"because":"crashed_worker","detail":' .. detail)
    add_dead_letter(task, lane, job, site, "crashed_worker", false)
    return
  end
  if job.stopped == 1 then
    job.cancelled = job.cancelled + 1
    return
  end
  lane = lane_after(task, lane, job, site)
  if task.not_before then return delay(task, lane, job) end
  requeue(task, lane, job)
end
