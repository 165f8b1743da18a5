-- leases: how claims end: settled, handed back, expired or abandoned. A task that was granted before is packed as token,
-- failures, crashes, not_before, history, body behind its number; leased, it is that and lane and worker. A task in its
-- first lease, as almost all are, is lane and worker, packed, and then the task as it lay in the list.
local CRASHES_MOST = 3
local FIRST_LEASE = 0x92 -- how a packed pair begins
local ended = { ids = {}, members = {}, workers = {}, queues = {}, count = 0 }
local last_head, last_pair

-- Lane and worker of a task in its first lease: the same for most tasks of a call, so the last ones are remembered.
local function holder_of(value)
  if last_head and string.sub(value, 1, #last_head) == last_head then return last_pair end
  local after, pair = cmsgpack.unpack_one(value)
  last_head, last_pair = string.sub(value, 1, after), pair
  return pair
end

local function read_lease(id, value)
  if string.byte(value) == FIRST_LEASE then
    local pair = holder_of(value)
    return {
      id = tonumber(id), token = 1, failures = 0, crashes = 1, not_before = false, history = false,
      body = string.sub(value, #last_head + #id + 2), lane = pair[1], worker = pair[2],
    }
  end
  local row = cmsgpack.unpack(value)
  return {
    id = tonumber(id), token = row[1], failures = row[2], crashes = row[3], not_before = row[4], history = row[5],
    body = row[6], lane = row[7], worker = row[8],
  }
end

-- The task a claim is good for, if it still is.
local function claimed(id, token)
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

-- Takes a task out of the counts of what is leased; the caller says where it goes.
local function end_lease(id, lane_name, worker)
  local lane = find_lane(lane_name)
  local row = lane.row
  local job, site = job_numbered(row[JOB_NUMBER]), site_numbered(row[SITE_NUMBER])
  row[LEASED], job.leased, site[IN_FLIGHT] = row[LEASED] - 1, job.leased - 1, site[IN_FLIGHT] - 1
  local number, nth = tonumber(id), ended.count + 1
  -- Whoever was to bring robots.txt has ended; if it did not, another is asked.
  if site[ASKER] == number then site[ASKER] = 0 end
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

local function forget_ended()
  if ended.count == 0 then return end
  redis.call("HDEL", key("leases"), unpack(ended.ids))
  redis.call("ZREM", key("expiry"), unpack(ended.members))
  for worker, ids in pairs(ended.workers) do
    redis.call("SREM", key("held", worker), unpack(ids))
    if redis.call("HINCRBY", key("holders"), worker, -#ids) <= 0 then redis.call("HDEL", key("holders"), worker) end
  end
end

-- One more line in a task's history, a JSON list. `fields` is what the caller tells of it, without braces.
local function with_misfortune(task, fields)
  local line = '{"at":' .. exact(step.now) .. "," .. fields .. "}"
  if not task.history then return "[" .. line .. "]" end
  return string.sub(task.history, 1, -2) .. "," .. line .. "]"
end

local function bury(task, lane, job, site, reason, status)
  redis.call("HSET", key("dead"), task.id, cmsgpack.pack({
    job.n, site[NAME], base_queue(lane.row[QUEUE]), lane.row[PRIORITY], reason, status, step.now, task.history or "[]",
    task.body, task.token,
  }))
  redis.call("ZADD", key("dead-order"), task.id, task.id)
  redis.call("ZADD", key("job-dead", job.n), task.id, task.id)
  job.dead = job.dead + 1
  local had = site_of_job(job, site)
  had[HAD_DEAD] = had[HAD_DEAD] + 1
end

-- Counts what a task that ended well has brought, in its job and at its site.
local function tally(job, site, pages, records, invalid, bytes)
  local had = site_of_job(job, site)
  job.done, had[HAD_DONE] = job.done + 1, had[HAD_DONE] + 1
  job.pages, had[HAD_PAGES] = job.pages + pages, had[HAD_PAGES] + pages
  job.records, had[HAD_RECORDS] = job.records + records, had[HAD_RECORDS] + records
  job.invalid, had[HAD_INVALID] = job.invalid + invalid, had[HAD_INVALID] + invalid
  job.bytes, had[HAD_BYTES] = job.bytes + bytes, had[HAD_BYTES] + bytes
  if tonumber(pages) > 0 then had[HAD_PAGE_AT] = step.now end
end

local function delay(task, lane, job)
  redis.call("ZADD", key("delayed", lane.name), task.not_before, pack_task(task))
  lane.row[DELAYED], job.delayed = lane.row[DELAYED] + 1, job.delayed + 1
  lane.rescore = true
  count_waiting(lane, 1)
end

-- Among those that may go, at the place of its number.
local function requeue(task, lane, job)
  redis.call("ZADD", key("back", lane.name), task.id, pack_task(task))
  lane.row[BACK], job.queued = lane.row[BACK] + 1, job.queued + 1
  lane.rescore = true
  count_waiting(lane, 1)
end

-- Where a task waits that so many workers have died with.
local function lane_after(task, lane, job, site)
  local queue = base_queue(lane.row[QUEUE]) .. (task.crashes >= SUSPECT_AFTER and ALONE or "")
  return queue == lane.row[QUEUE] and lane or lane_for(job, site, queue, lane.row[PRIORITY])
end

-- Back to where it was, or among the suspects, unless it has taken down too many workers or its job is over. An untouched
-- task has crashed nobody: its count is as before the grant. A retry goes back among the retries.
local function hand_back(task, crashed)
  local lane, job, site = end_lease(string.format("%.0f", task.id), task.lane, task.worker)
  if crashed and task.crashes >= CRASHES_MOST then
    local detail = cjson.encode("held by " .. task.worker)
    task.history = with_misfortune(task, '"because":"crashed_worker","detail":' .. detail)
    bury(task, lane, job, site, "crashed_worker", false)
    return
  end
  if job.stopped == 1 then
    job.cancelled = job.cancelled + 1
    return
  end
  if not crashed then task.crashes = task.crashes - 1 end
  lane = lane_after(task, lane, job, site)
  if task.not_before then return delay(task, lane, job) end
  requeue(task, lane, job)
end
