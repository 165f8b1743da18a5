#!lua flags=allow-oom
-- settle-done: ends tasks of one job that brought no new links, which is all there is to a list of URLs: a third of what
-- settle takes for them. All or none: one stale claim among them leaves them to settle.
-- KEYS  1 the shard                                                                   Cost: a few small writes a task.
-- ARGV  1 now or ""   2 known links   3… id, token, pages, records, invalid and bytes of each claim, then the receipt
-- Reply: now, how many were settled (all, or 0: nothing has changed), then the jobs that have nothing left.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/receipt.lua lib/slots.lua lib/lanes.lua lib/wake.lua lib/save.lua lib/leases.lua
begin(ARGV[1])
local receipt = answered()
if receipt then return receipt end

local ids, tokens = {}, {}
for at = 3, #ARGV, 6 do ids[#ids + 1], tokens[#tokens + 1] = ARGV[at], ARGV[at + 1] end
local values = redis.call("HMGET", key("leases"), unpack(ids))

-- Of whose lane each is, by whom; nothing if one of them is stale, or they are not of one job.
local function find_holders()
  local holders, job = {}, nil
  for nth, value in ipairs(values) do
    if not value then return nil end
    local holder
    if string.byte(value) == FIRST_LEASE then holder = tokens[nth] == "1" and holder_of(value)
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
if not holders then return { exact(step.now), 0 } end
for nth, holder in ipairs(holders) do
  local _, _, site = end_lease(ids[nth], holder[1], holder[2])
  if site[BLOCKED_UNTIL] <= step.now then site[INCIDENTS] = 0 end
  local at = 5 + (nth - 1) * 6
  tally(job, site, ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3])
end
job.discovered = job.discovered + ARGV[2]
local fate = (job.stopped == 1 or job.finished) and "refused" or "duplicate"
job[fate] = job[fate] + ARGV[2]
own_share = ended.queues
forget_ended()
save()
return keep_answer({ exact(step.now), #ids, unpack(step.finished) })
