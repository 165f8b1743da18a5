#!lua flags=allow-oom
-- lease: grant tasks that may be fetched when the reply arrives: best priority first, then the site that was served
-- longest ago, then the jobs of one site in turn (F1, F2, F4, F5).
-- KEYS  1 the shard                      Cost: O(log n) in sites with work, plus a few small writes per site and grant.
-- ARGV  1 now or ""   2 worker   3 its wake-up channel (see wake-workers)   4 max grants   5 lease, ms
--       6 expected time until the reply arrives, ms   7… queues
-- Reply: now, when the next task and the first suspect are due (separated by a space, each may be missing), when this
--        worker should call again if nothing wakes it, or "", then for each site: name, its arrival time before this
--        call, interval, burst (without an interval: the end of its backoff), 1 if the first task must fetch
--        robots.txt, number of jobs, and for each job its id, number of tasks, and the tasks: "id body" for the first
--        grant of a task, else "!id token failures body".
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/slots.lua lib/lanes.lua lib/wake-workers.lua lib/save.lua lib/leases.lua lib/grant.lua lib/idle-workers.lua
begin(ARGV[1], ARGV[6])
local worker, channel, max, lease_ms = ARGV[2], ARGV[3], math.min(tonumber(ARGV[4]), MAX_BATCH), tonumber(ARGV[5])
local queues, suspects, ranks = { unpack(ARGV, 7) }, {}, {}
for nth, queue in ipairs(queues) do
  suspects[nth] = base_queue(queue) .. ALONE
  ranks[queue], ranks[suspects[nth]] = ranks_of(queue), ranks_of(suspects[nth])
end

-- Gives one task to each due site in turn, and within a site to each job in turn, until `left` is used up.
local function distribute(turns, left)
  local gave = true
  while gave and left > 0 do
    gave = false
    for _, turn in ipairs(turns) do
      local share = turn.free > 0 and least_taken(turn)
      if share and left > 0 then
        share.taken, turn.free, left, gave = share.taken + 1, turn.free - 1, left - 1, true
      end
    end
  end
end

local granted, reply = 0, { exact(clock()), "", "" }
local function grant_at(queue, rank)
  local turns = open_turns(queue, rank, max - granted)
  distribute(turns, max - granted)
  for _, turn in ipairs(turns) do granted = granted + take_turn(turn, worker, lease_ms, reply) end
end

if max > 0 then
  for rank = 0, 9 do
    for _, queue in ipairs(queues) do
      if granted < max and string.find(ranks[queue], rank, 1, true) then grant_at(queue, rank) end
    end
  end
end
if granted > 0 then save_grants(worker) end
-- A worker that got fewer grants than it requested takes the next due tasks itself, so no other worker is woken for
-- them.
if granted < max then
  for _, queue in ipairs(queues) do caller_takes[base_queue(queue)] = NEVER end
end
if next(tx.sites) then save() end
local due, queue = first_due(queues, ranks)
local alone_due, alone_queue = first_due(suspects, ranks)
reply[2] = (due < NEVER and exact(due) or "") .. " " .. (alone_due < NEVER and exact(alone_due) or "")
if alone_due < due then due, queue = alone_due, alone_queue end
reply[3] = register_idle(queues, channel, granted < max, due, queue)
return reply
