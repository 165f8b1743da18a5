#!lua flags=allow-oom
-- discard-dead: forgets dead letters; the ledger keeps counting them (F15).               Cost: O(letters looked at).
-- KEYS  1 the shard
-- ARGV  as in lib/dead, then the receipt
-- Reply: now, the task to go on after or "", how many were forgotten.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/receipt.lua lib/dead.lua
step.now = time_of(ARGV[1])
local receipt = answered()
if receipt then return receipt end
local letters, after = find_letters(function() return true end)
for _, letter in ipairs(letters) do drop_letter(letter) end
return keep_answer({ exact(step.now), after, #letters })
