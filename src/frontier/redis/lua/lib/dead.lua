-- dead: letters that match a filter, in order of their tasks, at most BATCH_MOST looked at a call.
-- ARGV  1 now or ""   2 job id or ""   3 reason or ""   4 site or ""   5 status or ""   6 after this task   7 most
--       8 the only tasks that are meant, in order, with a space between, or ""
local function letter_of(id)
  local row = cmsgpack.unpack(redis.call("HGET", key("dead"), id))
  return {
    id = tonumber(id), job = row[1], site = row[2], queue = row[3], priority = row[4], reason = row[5],
    status = row[6], died_at = row[7], history = row[8], body = row[9], token = row[10],
  }
end

-- Those whose page was to be parsed (#site) go with their site.
local function matches(letter)
  return (ARGV[3] == "" or letter.reason == ARGV[3])
    and (ARGV[4] == "" or letter.site == ARGV[4] or letter.site == "#" .. ARGV[4])
    and (ARGV[5] == "" or letter.status == tonumber(ARGV[5]))
end

-- Those of the named tasks that are letters: the caller names BATCH_MOST at most.
local function chosen_in(order)
  local ids = {}
  for id in string.gmatch(ARGV[8], "%d+") do
    if tonumber(id) > tonumber(ARGV[6]) and redis.call("ZSCORE", order, id) then ids[#ids + 1] = id end
  end
  return ids
end

-- The letters, and the task to go on after, or "" when that was all.
local function find_letters(wanted)
  local order = key("dead-order")
  if ARGV[2] ~= "" then
    local n = redis.call("HGET", key("jobs"), ARGV[2])
    if not n then return {}, "" end
    order = key("job-dead", n)
  end
  local most, found, last = tonumber(ARGV[7]), {}, ""
  local ids = ARGV[8] ~= "" and chosen_in(order)
    or redis.call("ZRANGEBYSCORE", order, "(" .. ARGV[6], "+inf", "LIMIT", 0, BATCH_MOST)
  for nth, id in ipairs(ids) do
    local letter = letter_of(id)
    if matches(letter) and wanted(letter) then found[#found + 1] = letter end
    last = id
    if #found == most then return found, last end
    if nth == #ids and nth < BATCH_MOST then last = "" end
  end
  return found, last
end

-- A cancelled job takes nothing back, nor does one that is being stopped until it has ended.
local function takes_back(job)
  return job.state ~= "cancelled" and (job.stopped == 0 or job.finished ~= nil)
end

local function is_revivable(letter)
  return takes_back(job_numbered(letter.job))
end

-- True if it had ended.
local function run_again(job)
  if job.state ~= "finished" and job.state ~= "failed" then return false end
  job.state, job.finished, job.stopped, job.deadline = "running", nil, 0, nil
  redis.call("ZREM", key("deadlines"), job.n)
  redis.call("ZREM", key("ended"), ordered(job.n))
  note_open(job)
  return true
end

local function drop_letter(letter)
  redis.call("HDEL", key("dead"), letter.id)
  redis.call("ZREM", key("dead-order"), letter.id)
  redis.call("ZREM", key("job-dead", letter.job), letter.id)
end
