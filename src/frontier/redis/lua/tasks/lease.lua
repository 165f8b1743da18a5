#!lua flags=allow-oom
-- lease: take back terms, and grant tasks that may be fetched: best priority first, then the site that has been due
-- longest, then the jobs of one site in turn (F1, F2, F4, F5).
-- KEYS  1 the shard                      Cost: O(log n) in sites with work, plus a few small writes per site and grant.
-- ARGV  1 now or ""   2 worker   3 its wake-up channel (see wake-workers)   4 max grants   5 max grants at sites
--       without a rate   6 lease, ms   7 lookahead, ms   8 number of queues   9… queues, then for each returned term:
--       site, the term (six values, see return_term), number of unstarted tasks
-- Reply: now, when the next task and the first suspect are due (separated by a space, each may be missing), when this
--        worker should call again if nothing wakes it, or "", then for each site: name, its term (see open_term) or "",
--        1 if the first task must fetch robots.txt, number of jobs, and for each job its id, number of tasks, and the
--        tasks: "id body" for the first grant of a task, else "!id token failures body".
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/terms.lua lib/lanes.lua lib/wake-workers.lua lib/save.lua lib/leases.lua lib/returned-terms.lua lib/grant.lua lib/idle-workers.lua
begin(ARGV[1])
local worker, channel, max, lease_ms = ARGV[2], ARGV[3], math.min(tonumber(ARGV[4]), MAX_BATCH), tonumber(ARGV[6])
call.left, call.left_now, call.lookahead = max, tonumber(ARGV[5]), math.min(tonumber(ARGV[7]), MAX_LOOKAHEAD_MS)
local last_queue = 8 + tonumber(ARGV[8])
local queues, suspects, ranks = { unpack(ARGV, 9, last_queue) }, {}, {}
for nth, queue in ipairs(queues) do
  served_queues[queue] = true
  suspects[nth] = base_queue(queue) .. ALONE
  ranks[queue], ranks[suspects[nth]] = ranks_of(queue), ranks_of(suspects[nth])
end

local reply = { exact(tx.now), "", "" }
local function grant_at(queue, rank)
  local turns = open_turns(queue, rank)
  distribute(turns)
  for _, turn in ipairs(turns) do take_turn(turn, worker, lease_ms, reply) end
end

for at = last_queue + 1, #ARGV, 8 do take_back(at) end
if max > 0 then
  for rank = 0, 9 do
    for _, queue in ipairs(queues) do
      if call.left > 0 and string.find(ranks[queue], rank, 1, true) then grant_at(queue, rank) end
    end
  end
end
restore_terms()
if grants.count > 0 then save_grants(worker) end
-- A worker that reached neither of its two limits takes the next due tasks itself. So no other worker is woken for
-- them.
local is_idle = call.left > 0 and call.left_now > 0
if is_idle then
  for _, queue in ipairs(queues) do caller_takes[base_queue(queue)] = NEVER end
end
if next(tx.sites) then save() end
local due, queue = first_due(queues, ranks)
local alone_due, alone_queue = first_due(suspects, ranks)
reply[2] = (due < NEVER and exact(due) or "") .. " " .. (alone_due < NEVER and exact(alone_due) or "")
if alone_due < due then due, queue = alone_due, alone_queue end
reply[3] = register_idle(queues, channel, is_idle, due, queue)
return reply
