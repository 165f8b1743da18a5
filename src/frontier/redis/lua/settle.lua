#!lua flags=allow-oom
-- settle: ends tasks with what they brought, or puts them off (F7, F8, F14).  Cost: a few small writes a task, see admit.
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 how many lanes, then 3 words for each (see admit)
--       then for each task: id, token, outcome, site, refused links, known links, pages, records, invalid, bytes, and
--       how many new links, then 3 words for each of those; then the receipt.
--       outcome: "done", "refused", or JSON of a retry or a death: kind, because, status, retryAfterMs, told (the
--       history line without braces). site: "ok", "", or "throttled" and the wait it asked for, if any.
-- Reply: now, then for each task 0 (stale, nothing changed), 1 (settled) or 2 (settled, and all its links are now in the
--        job's own set), then the jobs that have nothing left.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/receipt.lua lib/slots.lua lib/backoff.lua lib/lanes.lua lib/wake.lua lib/save.lua lib/seen.lua lib/admit.lua lib/leases.lua lib/outcome.lua
begin(ARGV[1])
local receipt = answered()
if receipt then return receipt end

local function bring_in(job, site, lanes, at, links)
  local refused, known = ARGV[at + 4], ARGV[at + 5]
  if links > 0 then admit(job, lanes, at + 11, links, "discovered") end
  job.discovered = job.discovered + refused + known
  job.refused = job.refused + refused
  -- The caller knows these to be seen; of a job that has ended they are refused like all others.
  local fate = (job.stopped == 1 or job.finished) and "refused" or "duplicate"
  job[fate] = job[fate] + known
  tally(job, site, ARGV[at + 6], ARGV[at + 7], ARGV[at + 8], ARGV[at + 9])
  return not job.lapse and not job.page_limit and fate == "duplicate" and 2 or 1
end

-- Almost all tasks end well in their first lease: nothing but lane and worker has to be known of those.
local function end_first(value, lanes, at, links)
  local holder = holder_of(value)
  local _, job, site = end_lease(ARGV[at], holder[1], holder[2])
  hear_site(site, ARGV[at + 3])
  return bring_in(job, site, lanes, at, links)
end

local function settle(value, lanes, at, links)
  if not value or ended[ARGV[at]] then return 0 end
  local is_done = ARGV[at + 2] == "done"
  if is_done and string.byte(value) == FIRST_LEASE and ARGV[at + 1] == "1" then
    return end_first(value, lanes, at, links)
  end
  local task = read_lease(ARGV[at], value)
  if task.token ~= tonumber(ARGV[at + 1]) then return 0 end
  local lane, job, site = end_lease(ARGV[at], task.lane, task.worker)
  hear_site(site, ARGV[at + 3])
  apply(task, lane, job, site, ARGV[at + 2])
  return is_done and bring_in(job, site, lanes, at, links) or 1
end

local lanes, first = read_lanes(3, tonumber(ARGV[2]))
local places, ids, at = {}, {}, first
while at <= #ARGV do
  places[#places + 1], ids[#ids + 1] = at, ARGV[at]
  at = at + 11 + ARGV[at + 10] * 3
end
local values = redis.call("HMGET", key("leases"), unpack(ids))
local reply = { exact(step.now) }
for nth, place in ipairs(places) do
  reply[nth + 1] = settle(values[nth], lanes, place, tonumber(ARGV[place + 10]))
end
own_share = ended.queues
forget_ended()
save()
save_scopes()
for _, id in ipairs(step.finished) do reply[#reply + 1] = id end
return keep_answer(reply)
