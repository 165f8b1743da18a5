#!lua flags=allow-oom
-- find-revivable: whose dead letters the next call of replay-dead would take back, so that their home shards can be told
-- before.                                                                                 Cost: O(letters looked at).
-- KEYS  1 the shard
-- ARGV  as in lib/dead
-- Reply: now, the task to go on after or "", then the ids of the jobs.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/dead.lua
step.now = time_of(ARGV[1])
local letters, after = find_letters(is_revivable)
local reply, met = { exact(step.now), after }, {}
for _, letter in ipairs(letters) do
  if not met[letter.job] then reply[#reply + 1] = job_numbered(letter.job).id end
  met[letter.job] = true
end
return reply
