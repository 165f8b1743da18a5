#!lua flags=allow-oom
-- list-dead: dead letters in order of their tasks (F15).                                  Cost: O(letters read).
-- KEYS  1 the shard
-- ARGV  as in lib/dead
-- Reply: now, the task to continue after or "", then for each letter: task, job, site, reason, status or "", died at,
--        history, body.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/dead.lua
tx.now = time_of(ARGV[1])
local letters, after = find_letters(function() return true end)
local reply = { exact(tx.now), after }
for _, letter in ipairs(letters) do
  for _, field in ipairs({
    string.format("%.0f", letter.id), job_numbered(letter.job).id, letter.site, letter.reason,
    letter.status and tostring(letter.status) or "", exact(letter.died_at), letter.history, letter.body,
  }) do reply[#reply + 1] = field end
end
return reply
