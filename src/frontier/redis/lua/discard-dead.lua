#!lua flags=allow-oom
-- discard-dead: forgets dead letters; the ledger keeps counting them (F15).               Cost: O(letters looked at).
-- KEYS  1 the shard
-- ARGV  as in lib/dead
-- Reply: now, the task to go on after or "", how many were forgotten.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/dead.lua
step.now = time_of(ARGV[1])
local letters, after = find_letters(function() return true end)
for _, letter in ipairs(letters) do drop_letter(letter) end
return { exact(step.now), after, #letters }
