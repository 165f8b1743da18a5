#!lua flags=allow-oom
-- allot-pages: give a shard the pages that were reserved for it, if its current number of pages is the one that the
-- caller expects. So if the reply is lost and the call is repeated, the pages are given only once. A crash between
-- reserve-pages and this script leaves the job with fewer pages than its limit, never with more.            Cost: O(1).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 job id   3 pages the shard has been given so far   4 further pages
-- Reply: now, pages the shard had been given before this call.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua
begin(ARGV[1])
local job = job_named(ARGV[2])
if not job then return { exact(tx.now), 0 } end
local given = job.page_limit or 0
if given == tonumber(ARGV[3]) then
  job.page_limit = given + tonumber(ARGV[4])
  write_job(job)
end
return { exact(tx.now), given }
