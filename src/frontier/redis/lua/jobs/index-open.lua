#!lua flags=allow-oom
-- index-open: index open jobs that an older version created or reopened without an index entry; on their owner shard.
-- KEYS  1 the shard                                                                                 Cost: O(1) per job.
-- ARGV  1 now or ""   2… job ids
-- Reply: now.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua
for at = 2, #ARGV do
  local job = job_named(ARGV[at])
  if job and not job.finished then index_open_job(job) end
end
return { exact(time_of(ARGV[1])) }
