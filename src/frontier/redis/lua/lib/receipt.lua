-- receipt: makes a script idempotent. A caller that repeats a call because the reply was lost gets the first reply, and
-- the work is done once. A process uses several caller names, each for one call at a time, so one reply per name is
-- stored. The last two values of ARGV are the caller name and the number of its call, negative if the call is repeated.

-- The longest time for which a caller retries.
local RECEIPT_MS = 3600000
local call, caller = tonumber(table.remove(ARGV)), table.remove(ARGV)

-- The stored reply of this call, if it was made before. The time in it is replaced by now, because callers use that
-- time to compare clocks.
local function previous_reply()
  local kept = call < 0 and redis.call("GET", key("receipt", caller))
  local receipt = kept and cmsgpack.unpack(kept)
  if not receipt or receipt[1] ~= -call then return nil end
  receipt[2][1] = exact(tx.now)
  return receipt[2]
end

local function save_reply(reply)
  redis.call("SET", key("receipt", caller), cmsgpack.pack({ math.abs(call), reply }), "PX", RECEIPT_MS)
  return reply
end
