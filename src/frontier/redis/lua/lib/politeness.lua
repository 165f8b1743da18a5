-- politeness: the request rate of a site. The same operations in the same order as domain/politeness.ts and
-- rescale-arrival.ts, so that all backends get the same times to the last bit.
local function spacing_of(interval)
  if interval == 0 then return 0 end
  return interval + math.min(25, math.max(0.5, math.min(2, interval * 0.2), interval * 0.05))
end

-- The arrival time that the site would have if its recent requests had used the new policy (see rescale-arrival.ts).
local function rescale_arrival(arrival, now, interval, burst, new_interval)
  if interval == 0 or interval == new_interval then return arrival end
  local before, after = spacing_of(interval), spacing_of(new_interval)
  local counting = after < before and 1 or math.ceil((arrival - now) / before)
  return arrival + math.max(1, math.min(burst, counting)) * (after - before)
end
