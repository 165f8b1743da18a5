-- wake: tells workers that wait. Those with room stand in a queue's `idle` set; as many as there is new work for are
-- taken out and told, each on a channel of its own, so that one URL does not wake five hundred. Suspects wake those of
-- the queue they came from.
local due_now, due_later = {}, {}
-- How many of a queue's turns that are due now the caller is going to see to itself. It may serve no other queue.
local own_share = {}
local WOKEN_MOST = 4
local DEAF_MOST = 8
-- A worker that was to look at an instant and has not come by so much later is taken for dead.
local ALARM_LATE_MS = 250

local function announce_turn(name, due)
  if due >= NEVER then return end
  local queue = base_queue(string.match(name, "^%d+:(.*)$"))
  if due <= step.now then due_now[queue] = (due_now[queue] or 0) + 1
  else due_later[queue] = math.min(due_later[queue] or NEVER, due) end
end

local function wake(queue, count)
  for _ = 1, DEAF_MOST do
    local ear = count > 0 and redis.call("ZPOPMAX", key("idle", queue))[1]
    if not ear then return end
    local heard = redis.call("PUBLISH", key("wake", ear), queue)
    -- Nobody listens there any more: try the next. Of a cluster, each node counts its own listeners only.
    if heard > 0 or step.totals.shards > 1 then count = count - 1 end
  end
end

-- Who is to look next, and when.
local function alarm_of(queue)
  local alarm = redis.call("HGET", key("alarm"), queue)
  if not alarm then return NEVER, "" end
  local at, ear = string.match(alarm, "^(%S+) (.*)$")
  at = tonumber(at)
  if at + ALARM_LATE_MS < step.now then return NEVER, "" end
  return at, ear
end

local function wake_workers()
  for queue, count in pairs(due_now) do wake(queue, math.min(WOKEN_MOST, count - (own_share[queue] or 0))) end
  for queue, due in pairs(due_later) do
    if not due_now[queue] and not own_share[queue] and due < alarm_of(queue) then wake(queue, 1) end
  end
end
