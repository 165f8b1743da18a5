#!lua flags=allow-oom
-- settle: end leases with their outcome, and queue discovered links (F7, F8, F14).
-- KEYS  1 the shard                                            Cost: a few small writes per task; for links, see admit.
-- ARGV  1 now or ""   2 number of lanes, then 3 values per lane (see admit)
--       then for each task: id, token, outcome, site, refused links, known links, pages, records, invalid, bytes,
--       number of new links, then 3 values per new link; then the receipt.
--       known links: number of links that the caller has cached as seen.
--       outcome: "done", "refused", or for a retry or dead task JSON with kind, because, status, retryAfterMs and told
--       (the fields of the history entry, without braces).
--       site: "ok", "" for unknown, or "throttled:cause wait"; cause and wait may be missing.
-- Reply: now, then for each task 0 (stale, nothing changed), 1 (settled with its outcome), 2 (the same, and all its
--        links are now in the job's own set of seen URLs), 3 (dead after its last retry) or 4 (cancelled, because its
--        job has stopped), then ids of jobs that have nothing left on this shard.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/receipt.lua lib/terms.lua lib/backoff.lua lib/lanes.lua lib/wake-workers.lua lib/save.lua lib/seen.lua lib/admit.lua lib/leases.lua lib/task-outcome.lua
begin(ARGV[1])
local receipt = previous_reply()
if receipt then return receipt end

local function add_results(job, site, lanes, at, links)
  local refused, known = ARGV[at + 4], ARGV[at + 5]
  if links > 0 then admit(job, lanes, at + 11, links, "discovered") end
  job.discovered = job.discovered + refused + known
  job.refused = job.refused + refused
  -- Known links are duplicates. If the job has ended, they are refused like all its links.
  local counter = (job.stopped == 1 or job.finished) and "refused" or "duplicate"
  job[counter] = job[counter] + known
  tally(job, site, ARGV[at + 6], ARGV[at + 7], ARGV[at + 8], ARGV[at + 9])
  return not job.lapse and not job.page_limit and counter == "duplicate" and 2 or 1
end

-- Fast path: almost all tasks succeed in their first lease, and then only lane and worker are needed.
local function end_first(value, lanes, at, links)
  local holder = holder_of(value)
  local _, job, site = end_lease(ARGV[at], holder[1], holder[2])
  update_site_backoff(site, ARGV[at + 3], false)
  return add_results(job, site, lanes, at, links)
end

local function settle(value, lanes, at, links)
  if not value or ended[ARGV[at]] then return 0 end
  local is_done = ARGV[at + 2] == "done"
  if is_done and is_first(value) and ARGV[at + 1] == "1" then
    return end_first(value, lanes, at, links)
  end
  local task = read_lease(ARGV[at], value)
  if task.token ~= tonumber(ARGV[at + 1]) then return 0 end
  local lane, job, site = end_lease(ARGV[at], task.lane, task.worker)
  update_site_backoff(site, ARGV[at + 3], task.failures > 0)
  local code = apply_outcome(task, lane, job, site, ARGV[at + 2])
  return is_done and add_results(job, site, lanes, at, links) or code
end

local lanes, first = read_lanes(3, tonumber(ARGV[2]))
local positions, ids, at = {}, {}, first
while at <= #ARGV do
  positions[#positions + 1], ids[#ids + 1] = at, ARGV[at]
  at = at + 11 + ARGV[at + 10] * 3
end
local values = redis.call("HMGET", key("leases"), unpack(ids))
local reply = { exact(tx.now) }
for nth, position in ipairs(positions) do
  reply[nth + 1] = settle(values[nth], lanes, position, tonumber(ARGV[position + 10]))
end
caller_takes = ended.queues
delete_leases()
save()
save_scopes()
for _, id in ipairs(tx.finished) do reply[#reply + 1] = id end
return save_reply(reply)
