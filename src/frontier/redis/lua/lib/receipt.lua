-- receipt: what a call was answered, for a caller that makes it again because the answer was lost on its way: it is told
-- the same, and nothing is done twice. A caller has desks, and makes one call at a time at each, so one answer is kept
-- for each desk. The last two words of ARGV are the desk, and the number of the call there, below zero if made again.
-- The longest that anybody tries again for.
local RECEIPT_MS = 3600000
local call, desk = tonumber(table.remove(ARGV)), table.remove(ARGV)

-- What this very call was answered, if it was made before. The time is of now: callers set their clocks by it.
local function answered()
  local kept = call < 0 and redis.call("GET", key("receipt", desk))
  local receipt = kept and cmsgpack.unpack(kept)
  if not receipt or receipt[1] ~= -call then return nil end
  receipt[2][1] = exact(step.now)
  return receipt[2]
end

local function keep_answer(reply)
  redis.call("SET", key("receipt", desk), cmsgpack.pack({ math.abs(call), reply }), "PX", RECEIPT_MS)
  return reply
end
