#!lua flags=allow-oom
-- lease: grants only what may be fetched when the answer arrives, best priority first, sites that waited longest first,
-- jobs on one site in turn (F1, F2, F4, F5).  Cost: O(log n) in sites with work, a few small writes a site and a grant.
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 worker   3 its ear (see wake)   4 most grants   5 lease, ms   6 how long the answer takes, ms
--       7… queues
-- Reply: now, when the next is due and when the first suspect is (a blank between them, each may be missing), when this
--        worker should look again by itself or "", then for each site:
--        name, its arrival time before, interval, burst (without an interval: when its back-off ends), 1 to ask for
--        robots.txt first, how many jobs, and for each of those its id, how many tasks, and the tasks: "id body" when
--        granted for the first time, else "!id token failures body".
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/slots.lua lib/lanes.lua lib/wake.lua lib/save.lua lib/leases.lua lib/turns.lua lib/idle.lua
begin(ARGV[1], ARGV[6])
local worker, ear, most, lease_ms = ARGV[2], ARGV[3], math.min(tonumber(ARGV[4]), BATCH_MOST), tonumber(ARGV[5])
local queues, suspects, ranks = { unpack(ARGV, 7) }, {}, {}
for nth, queue in ipairs(queues) do
  suspects[nth] = base_queue(queue) .. ALONE
  ranks[queue], ranks[suspects[nth]] = ranks_of(queue), ranks_of(suspects[nth])
end

-- One task to each due site in turn, and at a site to each job in turn, while there is room.
local function share_out(turns, room)
  local gave = true
  while gave and room > 0 do
    gave = false
    for _, turn in ipairs(turns) do
      local share = turn.room > 0 and least_taken(turn)
      if share and room > 0 then
        share.taken, turn.room, room, gave = share.taken + 1, turn.room - 1, room - 1, true
      end
    end
  end
end

local granted, reply = 0, { exact(clock()), "", "" }
local function grant_at(queue, rank)
  local turns = open_turns(queue, rank, most - granted)
  share_out(turns, most - granted)
  for _, turn in ipairs(turns) do granted = granted + take_turn(turn, worker, lease_ms, reply) end
end

if most > 0 then
  for rank = 0, 9 do
    for _, queue in ipairs(queues) do
      if granted < most and string.find(ranks[queue], rank, 1, true) then grant_at(queue, rank) end
    end
  end
end
if granted > 0 then keep_grants(worker) end
-- With room left this worker will take what comes due itself.
if granted < most then
  for _, queue in ipairs(queues) do own_share[base_queue(queue)] = NEVER end
end
if next(step.sites) then save() end
local due, queue = first_due(queues, ranks)
local alone_due, alone_queue = first_due(suspects, ranks)
reply[2] = (due < NEVER and exact(due) or "") .. " " .. (alone_due < NEVER and exact(alone_due) or "")
if alone_due < due then due, queue = alone_due, alone_queue end
reply[3] = stand_by(queues, ear, granted < most, due, queue)
return reply
