#!lua flags=allow-oom
-- control: changes a job (F12), on its home shard. Lease calls obey at once; the job's lanes follow, see sync, and so
-- do other shards, see word.                                                                              Cost: O(1).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 job id   3 "pause", "resume", "cancel", "priority", "policy" or "limits"   4… the new values;
--       of limits: pages, deadline; "" for none, "=" for the one it has
-- Reply: now, "ok", or "missing", or the state that does not allow it, or "fixed": a limit that cannot be given.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/slots.lua lib/lanes.lua lib/wake.lua lib/save.lua lib/stop.lua lib/word.lua
begin(ARGV[1])
local STATE = { pause = "paused", resume = "running", cancel = "cancelled" }
local job, change = job_named(ARGV[2]), ARGV[3]
if not job then return { exact(step.now), "missing" } end

-- Over several shards each has what it was allotted, and the home shard what nobody has taken (page-quota.ts): a new limit
-- moves that, below zero if more was admitted than may be. Made again, the call finds nothing to move.
local function limit_pages(job, word)
  if job.stopped == 1 or (job.state ~= "running" and job.state ~= "paused") then return job.state end
  if word == "=" then return nil end
  local pages = tonumber(word)
  if step.totals.shards == 1 then
    job.page_limit = pages
    return nil
  end
  if not job.page_total then return pages and "fixed" or nil end
  pages = pages or NO_LIMIT
  job.pages_left, job.page_total = job.pages_left + pages - job.page_total, pages
end

local function limit_time(job, word)
  if word == "=" then return nil end
  job.deadline = tonumber(word)
  keep_deadline(job)
end

local target = STATE[change]
if target and job.state ~= target then
  -- What has ended runs again by a replay only.
  if job.state ~= "running" and job.state ~= "paused" then return { exact(step.now), job.state } end
  job.state = target
end
if change == "cancel" then stop(job) end
if change == "priority" then job.priority = tonumber(ARGV[4]) end
if change == "policy" then
  job.interval, job.burst, job.per_site = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
end
if change == "limits" then
  local refused = limit_pages(job, ARGV[4]) or limit_time(job, ARGV[5])
  if refused then return { exact(step.now), refused } end
end
unsync(job)
proclaim(job)
save()
return { exact(step.now), "ok" }
