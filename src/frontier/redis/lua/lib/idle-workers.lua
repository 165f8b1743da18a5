-- idle-workers: when an idle worker should call lease again. One idle worker of each queue is the watcher of the queue.
-- The watcher calls lease when the next site becomes due, and that call wakes the other workers if there is enough
-- work. The others call lease by themselves a little later, in case the watcher did not.

-- A worker that has not called lease for this long counts as gone.
local IDLE_EXPIRY_MS = 60000

local function first_due(queues, ranks)
  local first, whose = NEVER, nil
  for _, queue in ipairs(queues) do
    for rank in string.gmatch(ranks[queue], "%d") do
      local name = rank .. ":" .. queue
      local due = math.min(first_score(due_key(true, name)) or NEVER, first_score(due_key(false, name)) or NEVER)
      if due < first then first, whose = due, queue end
    end
  end
  return first, whose
end

local function register_idle(queues, channel, is_idle, due, queue)
  for _, served in ipairs(queues) do
    local name = base_queue(served)
    -- Drops workers that are gone: a running worker calls lease again within seconds.
    redis.call("ZREMRANGEBYSCORE", key("idle", name), "-inf", exact(tx.now - IDLE_EXPIRY_MS))
    if is_idle then redis.call("ZADD", key("idle", name), exact(tx.now), channel)
    else redis.call("ZREM", key("idle", name), channel) end
  end
  if due >= NEVER then return "" end
  queue = base_queue(queue)
  local at, watcher = find_alarm(queue)
  if not is_idle then
    -- Another worker must become the watcher.
    if watcher == channel then
      redis.call("HDEL", key("alarm"), queue)
      wake(queue, 1)
    end
    return ""
  end
  if watcher ~= "" and watcher ~= channel and at <= due then
    -- If the watcher does not call lease, the others do so one after the other, the longest idle worker first.
    return exact(due + ALARM_LATE_MS * (1 + redis.call("ZRANK", key("idle", queue), channel)))
  end
  redis.call("HSET", key("alarm"), queue, exact(due) .. " " .. channel)
  return exact(due)
end
