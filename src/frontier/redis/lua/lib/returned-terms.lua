-- returned-terms: the terms that a worker returns with a lease call. They are applied before the call grants tasks.

-- The returned terms by site number, and the queues that the worker serves.
local returned_terms, served_queues = {}, {}

-- Takes back a term, so that this call can open a new term of the site. ARGV from index `at`: site, the term (see
-- return_term), and how many tasks of the site the worker has not started.
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

-- Runs after the grants: if the worker has unstarted tasks of a site and got no new term, it keeps the old one.
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

-- Whether other workers may take the site first: this worker has just returned its term, and tasks wait there on queues
-- that this worker does not serve. If no other worker takes the site, this worker gets it with its next call.
local has_precedence
do
  -- Max lanes of a turn that are read to find one whose tasks may be granted. Lanes of a job that was just paused may
  -- still be in the set.
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
