#!lua flags=allow-oom
-- change-job: change a job (F12), on its owner shard. There, pause, resume, cancel and limits apply from the next call
-- on. Afterwards apply-job-state updates the other shards, and sync-lanes updates the job's lanes. Priority and rate
-- apply to each lane when the lane is updated.                                                              Cost: O(1).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 job id   3 "pause", "resume", "cancel", "priority", "policy" or "limits"   4… the new values;
--       for "limits" pages and deadline, each "" for no limit or "=" to keep the current one
-- Reply: now, then "ok", "missing", the state that forbids the change, or "fixed" for a limit that cannot be added.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/terms.lua lib/lanes.lua lib/wake-workers.lua lib/save.lua lib/stop-job.lua lib/job-state.lua
begin(ARGV[1])
local STATE = { pause = "paused", resume = "running", cancel = "cancelled" }
local job, change = job_named(ARGV[2]), ARGV[3]
if not job then return { exact(tx.now), "missing" } end

-- With several shards, each shard stores how many pages it was given, and the owner shard stores how many are left
-- (page-quota.ts). A new limit changes the number of pages left. The number is negative if more pages were given to the
-- shards than the limit allows. A repeated call changes nothing.
local function change_page_limit(job, value)
  if job.stopped == 1 or (job.state ~= "running" and job.state ~= "paused") then return job.state end
  if value == "=" then return nil end
  local pages = tonumber(value)
  if tx.totals.shards == 1 then
    job.page_limit = pages
    return nil
  end
  if not job.page_total then return pages and "fixed" or nil end
  pages = pages or NO_LIMIT
  job.pages_left, job.page_total = job.pages_left + pages - job.page_total, pages
end

local function change_deadline(job, value)
  if value == "=" then return nil end
  job.deadline = tonumber(value)
  index_deadline(job)
end

local target = STATE[change]
if target and job.state ~= target then
  -- Only a replay reopens an ended job.
  if job.state ~= "running" and job.state ~= "paused" then return { exact(tx.now), job.state } end
  job.state = target
end
if change == "cancel" then stop(job) end
if change == "priority" then job.priority = tonumber(ARGV[4]) end
if change == "policy" then
  job.interval, job.burst, job.per_site = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
end
if change == "limits" then
  local refused = change_page_limit(job, ARGV[4]) or change_deadline(job, ARGV[5])
  if refused then return { exact(tx.now), refused } end
end
mark_unsynced(job)
raise_generation(job)
save()
return { exact(tx.now), "ok" }
