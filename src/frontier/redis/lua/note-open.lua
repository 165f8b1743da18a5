#!lua flags=allow-oom
-- note-open: jobs that an older version has made, or runs again, are found among those that have not ended from now on; on
-- their home shard.                                                                                    Cost: O(1) a job.
-- KEYS  1 the shard
-- ARGV  1 now or ""   2… job ids
-- Reply: now.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua
for at = 2, #ARGV do
  local job = job_named(ARGV[at])
  if job and not job.finished then note_open(job) end
end
return { exact(time_of(ARGV[1])) }
