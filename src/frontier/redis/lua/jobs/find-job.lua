#!lua flags=allow-oom
-- find-job: one job by id or by number.                                                               Cost: O(1).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 job id or ""   3 job number, if no id
-- Reply: now, then its number and its fields (see lib/job-view); nothing more if it does not exist.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/job-view.lua
local reply = { exact(time_of(ARGV[1])) }
local job
if ARGV[2] == "" then job = job_numbered(tonumber(ARGV[3])) else job = job_named(ARGV[2]) end
if job then add_view(reply, job) end
return reply
