#!lua flags=allow-oom
-- find-jobs: several jobs by id, at most MAX_BATCH.                                          Cost: a few reads per job.
-- KEYS  1 the shard
-- ARGV  1 now or ""   2… job ids
-- Reply: now, then number and fields of each job that exists (see lib/job-view).
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/job-view.lua
local reply = { exact(time_of(ARGV[1])) }
for nth = 2, math.min(#ARGV, MAX_BATCH + 1) do
  local job = job_named(ARGV[nth])
  if job then add_view(reply, job) end
end
return reply
