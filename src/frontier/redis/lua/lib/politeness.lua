-- politeness: the request rate of a site. The functions run the same operations in the same order as
-- domain/politeness.ts and rescale-arrival.ts, so that all backends get the same times to the last bit.

-- The length of a term, and for how long its tasks last at the rate of the site.
local TERM_MS, TERM_WORK_MS = 2000, 1000

-- When the rate of the site allows the next request.
local function rate_ready_at(arrival, interval, burst)
  return arrival - (burst - 1) * interval
end

local function arrival_after_term(ends_at, interval, burst)
  return ends_at + burst * interval
end

local function tasks_per_term(interval, burst, slowdown, max)
  return math.min(max, math.max(1, burst, math.floor(TERM_WORK_MS / (interval * slowdown))))
end

-- The arrival time that the site would have if its recent requests had used the new rate (see rescale-arrival.ts).
local function rescale_arrival(arrival, now, interval, burst, new_interval)
  if interval == 0 or interval == new_interval then return arrival end
  local affected = new_interval < interval and 1 or math.ceil((arrival - now) / interval)
  return arrival + math.max(1, math.min(burst, affected)) * (new_interval - interval)
end
