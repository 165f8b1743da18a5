#!lua flags=allow-oom
-- find-replayable: the jobs whose dead letters the next replay-dead call would queue, so that their owner shards can
-- reopen them first.                                                                             Cost: O(letters read).
-- KEYS  1 the shard
-- ARGV  as in lib/dead
-- Reply: now, the task to continue after or "", then the ids of the jobs.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/dead.lua
tx.now = time_of(ARGV[1])
local letters, after = find_letters(is_replayable)
local reply, listed = { exact(tx.now), after }, {}
for _, letter in ipairs(letters) do
  if not listed[letter.job] then reply[#reply + 1] = job_numbered(letter.job).id end
  listed[letter.job] = true
end
return reply
