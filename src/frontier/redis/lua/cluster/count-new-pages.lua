#!lua flags=allow-oom
-- count-new-pages: how many more pages of a job's limit a shard needs to admit these URLs.    Cost: one lookup per URL.
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 job id   3… fingerprints
-- Reply: now, the number (-1: the job has no limit or does not exist), pages the shard has been given so far.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/seen.lua
begin(ARGV[1])
local job = job_named(ARGV[2])
if not job or not job.page_limit then return { exact(tx.now), -1, 0 } end
local scope, new, counted = scope_numbered(job.scope), 0, {}

local function is_new(fingerprint)
  if not job.lapse then return not has_seen(scope, fingerprint) end
  local entry = redis.call("HGET", key("lapse", job.scope), fingerprint)
  return not (entry and tonumber(string.match(entry, "^%S+")) > tx.now)
end

for at = 3, #ARGV do
  if not counted[ARGV[at]] and is_new(ARGV[at]) then new = new + 1 end
  counted[ARGV[at]] = true
end
return { exact(tx.now), math.max(0, new - (job.page_limit - job.admitted)), job.page_limit }
