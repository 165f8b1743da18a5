#!lua flags=allow-oom
-- settle-done: settle tasks of one job that succeeded and found no new links, as in a list of URLs. It takes a third of
-- the time of settle. All or none: if one claim is stale, nothing changes and the caller uses settle.
-- KEYS  1 the shard                                                                  Cost: a few small writes per task.
-- ARGV  1 now or ""   2 number of known links (see settle)   3… task id, token, pages, records, invalid and bytes of
--       each claim, then the receipt
-- Reply: now, number of settled tasks (all, or 0), then ids of jobs that have nothing left on this shard.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/receipt.lua lib/terms.lua lib/lanes.lua lib/wake-workers.lua lib/save.lua lib/leases.lua
begin(ARGV[1])
local receipt = previous_reply()
if receipt then return receipt end

local ids, tokens = {}, {}
for at = 3, #ARGV, 6 do ids[#ids + 1], tokens[#tokens + 1] = ARGV[at], ARGV[at + 1] end
local values = redis.call("HMGET", key("leases"), unpack(ids))

-- Lane and worker of each claim, and their job. Nil if a claim is stale or the claims belong to several jobs.
local function find_holders()
  local holders, job = {}, nil
  for nth, value in ipairs(values) do
    if not value then return nil end
    local holder
    if is_first(value) then holder = tokens[nth] == "1" and holder_of(value)
    else
      local task = read_lease(ids[nth], value)
      holder = task.token == tonumber(tokens[nth]) and { task.lane, task.worker }
    end
    if not holder then return nil end
    job = job or find_lane(holder[1]).row[JOB_NUMBER]
    if find_lane(holder[1]).row[JOB_NUMBER] ~= job then return nil end
    holders[nth] = holder
  end
  return holders, job_numbered(job)
end

local holders, job = find_holders()
if not holders then return { exact(tx.now), 0 } end
for nth, holder in ipairs(holders) do
  local _, _, site = end_lease(ids[nth], holder[1], holder[2])
  health.note_good(site)
  local at = 5 + (nth - 1) * 6
  tally(job, site, ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3])
end
job.discovered = job.discovered + ARGV[2]
local counter = (job.stopped == 1 or job.finished) and "refused" or "duplicate"
job[counter] = job[counter] + ARGV[2]
caller_takes = ended.queues
delete_leases()
save()
return save_reply({ exact(tx.now), #ids, unpack(tx.finished) })
