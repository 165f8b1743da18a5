-- idle: what a worker with room to spare does until something comes. One of those that wait is to look when the next
-- site becomes due; the others are told by it, and look by themselves only if it did not come.
-- A worker that has not asked for so long is gone.
local GONE_MS = 60000

local function first_due(queues, ranks)
  local first, whose = NEVER, nil
  for _, queue in ipairs(queues) do
    for rank in string.gmatch(ranks[queue], "%d") do
      local due = first_score(key("due", rank .. ":" .. queue)) or NEVER
      if due < first then first, whose = due, queue end
    end
  end
  return first, whose
end

local function stand_by(queues, ear, has_room, due, queue)
  for _, asked in ipairs(queues) do
    local name = base_queue(asked)
    -- Whoever lives comes again within seconds.
    redis.call("ZREMRANGEBYSCORE", key("idle", name), "-inf", exact(clock() - GONE_MS))
    if has_room then redis.call("ZADD", key("idle", name), exact(clock()), ear)
    else redis.call("ZREM", key("idle", name), ear) end
  end
  if due >= NEVER then return "" end
  queue = base_queue(queue)
  local at, watcher = alarm_of(queue)
  if not has_room then
    -- Another must look in its place.
    if watcher == ear then
      redis.call("HDEL", key("alarm"), queue)
      wake(queue, 1)
    end
    return ""
  end
  if watcher ~= "" and watcher ~= ear and at <= due then
    -- One after the other, whoever has waited longest first: should the watcher not come, the next one does.
    return exact(due + ALARM_LATE_MS * (1 + redis.call("ZRANK", key("idle", queue), ear)))
  end
  redis.call("HSET", key("alarm"), queue, exact(due) .. " " .. ear)
  return exact(due)
end
