-- terms: when a site may be requested, and its terms (F2, F3). The operations are the same as in sqlite/terms.ts.

-- The earliest time at which the site's own limits allow the next request.
local function ready_at(site)
  if site[IN_FLIGHT] >= health.concurrency(site) then return NEVER end
  if is_fetching_robots(site) then return NEVER end
  return math.max(rate_ready_at(site[ARRIVAL], site[INTERVAL], site[BURST]), site[BLOCKED_UNTIL])
end

-- Opens a term of a site that has a rate. Returns the term as text: number, interval, burst, start, end, arrival time
-- at the start, concurrent requests, slowdown, and the state of its throttled responses (`isolated`, `is_good`).
local function open_term(site, worker)
  local interval, burst, arrival = site[INTERVAL], site[BURST], site[ARRIVAL]
  local known, slowdown = health.of(site), health.slowdown(site)
  if slowdown ~= known.slowdown then known.slowdown, known.is_changed = slowdown, true end
  local starts_at = math.max(tx.now, rate_ready_at(arrival, interval, burst), site[BLOCKED_UNTIL])
  local ends_at = starts_at + TERM_MS
  site[TERM], site[TERM_WORKER], site[TERM_ENDS] = site[TERM] + 1, worker, ends_at
  site[ARRIVAL] = arrival_after_term(ends_at, interval, burst)
  return string.format("%.0f %.17g %d %.17g %.17g %.17g %d %.17g %d %d", site[TERM], interval, burst, starts_at, ends_at,
    arrival, health.concurrency(site) - site[IN_FLIGHT], slowdown, known.isolated, known.is_good and 1 or 0)
end

-- Takes back a term. ARGV from index `from`: number, interval, burst, arrival time and slowdown of the returned term,
-- and the cause of the slowdown, or "" if it has not changed. Returns false, and changes nothing, if the term was
-- already returned or is not the last one of the site.
local function return_term(site, from)
  local number, interval, burst = tonumber(ARGV[from]), tonumber(ARGV[from + 1]), tonumber(ARGV[from + 2])
  if site[TERM] ~= number or not site[TERM_WORKER] then return false end
  local arrival = given_time(ARGV[1], ARGV[from + 3], tx.now)
  site[ARRIVAL] = rescale_arrival(arrival, tx.now, interval, burst, site[INTERVAL])
  site[TERM_WORKER], site[TERM_ENDS] = false, 0
  local slowdown, cause, known = tonumber(ARGV[from + 4]), ARGV[from + 5], health.of(site)
  if slowdown ~= known.slowdown or cause ~= "" then
    known.slowdown, known.cause, known.is_changed = slowdown, cause ~= "" and cause or known.cause, true
  end
  return true
end
