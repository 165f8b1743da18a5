-- returned-terms: the terms that a worker returns with a lease call. They are applied before the call grants tasks.

-- The returned terms by site number, and the queues that the worker serves.
local returned_terms, served_queues = {}, {}

-- Returns a term, so that its site can be granted again. ARGV from index `at`: site, the term (see return_term), and
-- how many tasks of the site its worker has not started.
local function take_back(at)
  local site, unstarted = site_named(ARGV[at]), tonumber(ARGV[at + 7])
  local arrival, worker, ends_at = site[ARRIVAL], site[TERM_WORKER], site[TERM_ENDS]
  if not return_term(site, at + 1) then return end
  -- Tasks that have not started are not in flight.
  site[IN_FLIGHT] = site[IN_FLIGHT] - unstarted
  returned_terms[site[NUMBER]] = {
    site = site, unstarted = unstarted, arrival = arrival, worker = worker, ends_at = ends_at,
  }
  local ready = ready_at(site)
  for turn = TURNS, #site, TURN_FIELDS do place_turn(site, turn, ready) end
end

-- A worker with unstarted tasks keeps its term if it got no other.
local function restore_terms()
  for _, term in pairs(returned_terms) do
    local site = term.site
    site[IN_FLIGHT] = site[IN_FLIGHT] + term.unstarted
    if term.unstarted > 0 and not site[TERM_WORKER] then
      site[ARRIVAL], site[TERM_WORKER], site[TERM_ENDS] = term.arrival, term.worker, term.ends_at
    end
  end
end

local function unstarted_at(site)
  local term = returned_terms[site[NUMBER]]
  return term and term.unstarted or 0
end

-- Whether another worker must get a chance at a site whose term was just returned: tasks wait there that this worker
-- does not serve. It gets the site with its next call if no other worker has taken it.
local has_precedence
do
  -- How many lanes of a turn are read to find one that may send. A paused job leaves its lanes a little later.
  local MAX_TRIED = 20

  local function ready_lanes(site, at)
    if site[at + ONLY] then return { (site[at + ONLY_SCORE] or NEVER) <= tx.now and site[at + ONLY] or nil } end
    local now, lanes = exact(tx.now), {}
    for nth, member in ipairs(redis.call("ZRANGEBYSCORE", lanes_key(site, at), "-inf", now, "LIMIT", 0, MAX_TRIED)) do
      lanes[nth] = string.sub(member, 7)
    end
    return lanes
  end

  function has_precedence(site)
    if not returned_terms[site[NUMBER]] then return false end
    for at = TURNS, #site, TURN_FIELDS do
      local is_served = served_queues[string.match(site[at], "^%d+:(.*)$")]
      for _, lane in ipairs(is_served and {} or ready_lanes(site, at)) do
        if may_send(job_numbered(tonumber(string.match(lane, "^%d+")))) then return true end
      end
    end
    return false
  end
end
