#!lua flags=allow-oom
-- discard-dead: delete dead letters; the ledger still counts them (F15).                  Cost: O(letters read).
-- KEYS  1 the shard
-- ARGV  as in lib/dead, then the receipt
-- Reply: now, the task to continue after or "", number of deleted letters.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/receipt.lua lib/dead.lua
tx.now = time_of(ARGV[1])
local receipt = previous_reply()
if receipt then return receipt end
local letters, after = find_letters(function() return true end)
for _, letter in ipairs(letters) do delete_letter(letter) end
return save_reply({ exact(tx.now), after, #letters })
