-- wake-workers: wakes idle workers. The process of an idle worker is in the `idle` sets of its queues and subscribes to
-- a channel of its own. A call wakes at most one process per due site, so one URL does not wake five hundred workers.
-- Suspects wake the workers of their original queue.
local due_now, due_later = {}, {}
-- How many due turns of each queue the caller will take itself, so that no other worker is woken for them.
local caller_takes = {}
local MAX_WOKEN = 4
local MAX_CHANNELS_TRIED = 8
-- A watcher that is this late with its lease call counts as dead.
local ALARM_LATE_MS = 250

local function collect_due(name, due, turns)
  if due >= NEVER then return end
  local queue = base_queue(string.match(name, "^%d+:(.*)$"))
  if due <= tx.now then due_now[queue] = (due_now[queue] or 0) + (turns or 1)
  else due_later[queue] = math.min(due_later[queue] or NEVER, due) end
end

local function wake(queue, count)
  for _ = 1, MAX_CHANNELS_TRIED do
    local channel = count > 0 and redis.call("ZPOPMAX", key("idle", queue))[1]
    if not channel then return end
    local receivers = redis.call("PUBLISH", key("wake", channel), queue)
    -- Without a subscriber, try the next worker. In a cluster each node counts its own subscribers only.
    if receivers > 0 or tx.totals.shards > 1 then count = count - 1 end
  end
end

-- When the watcher of a queue calls lease next, and its channel.
local function find_alarm(queue)
  local alarm = redis.call("HGET", key("alarm"), queue)
  if not alarm then return NEVER, "" end
  local at, channel = string.match(alarm, "^(%S+) (.*)$")
  at = tonumber(at)
  if at + ALARM_LATE_MS < tx.now then return NEVER, "" end
  return at, channel
end

local function wake_workers()
  for queue, count in pairs(due_now) do wake(queue, math.min(MAX_WOKEN, count - (caller_takes[queue] or 0))) end
  for queue, due in pairs(due_later) do
    if not due_now[queue] and not caller_takes[queue] and due < find_alarm(queue) then wake(queue, 1) end
  end
end
