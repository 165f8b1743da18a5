-- politeness: how fast one site may be hit. The same sums in the same order as domain/politeness.ts and reprice.ts, so
-- that both come to the same instants to the last bit.
local function spacing_of(interval)
  if interval == 0 then return 0 end
  return interval + math.min(25, math.max(0.5, math.min(2, interval * 0.2), interval * 0.05))
end

-- The arrival time as it would be had the requests that still count been made under the new policy.
local function reprice(arrival, now, interval, burst, new_interval)
  if interval == 0 or interval == new_interval then return arrival end
  local before, after = spacing_of(interval), spacing_of(new_interval)
  local counting = after < before and 1 or math.ceil((arrival - now) / before)
  return arrival + math.max(1, math.min(burst, counting)) * (after - before)
end
