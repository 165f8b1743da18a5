-- dead: dead letters that match a filter, in order of their tasks. Reads at most MAX_BATCH letters per call.
-- ARGV  1 now or ""   2 job id or ""   3 reason or ""   4 site or ""   5 status or ""   6 after this task   7 max
--       8 task ids, ascending, separated by spaces; or "" for all
local function letter_of(id)
  local row = cmsgpack.unpack(redis.call("HGET", key("dead"), id))
  return {
    id = tonumber(id), job = row[1], site = row[2], queue = row[3], priority = row[4], reason = row[5],
    status = row[6], died_at = row[7], history = row[8], body = row[9], token = row[10],
  }
end

-- A task at an offline site (#site) matches the filter of its site.
local function matches(letter)
  return (ARGV[3] == "" or letter.reason == ARGV[3])
    and (ARGV[4] == "" or letter.site == ARGV[4] or letter.site == "#" .. ARGV[4])
    and (ARGV[5] == "" or letter.status == tonumber(ARGV[5]))
end

-- Which of the tasks in ARGV[8] are dead letters. The caller passes at most MAX_BATCH.
local function filter_by_ids(order)
  local ids = {}
  for id in string.gmatch(ARGV[8], "%d+") do
    if tonumber(id) > tonumber(ARGV[6]) and redis.call("ZSCORE", order, id) then ids[#ids + 1] = id end
  end
  return ids
end

-- Returns the letters that match and that `wanted` accepts, and the task to continue after, or "" at the end.
local function find_letters(wanted)
  local order = key("dead-order")
  if ARGV[2] ~= "" then
    local n = redis.call("HGET", key("jobs"), ARGV[2])
    if not n then return {}, "" end
    order = key("job-dead", n)
  end
  local max, found, last = tonumber(ARGV[7]), {}, ""
  local ids = ARGV[8] ~= "" and filter_by_ids(order)
    or redis.call("ZRANGEBYSCORE", order, "(" .. ARGV[6], "+inf", "LIMIT", 0, MAX_BATCH)
  for nth, id in ipairs(ids) do
    local letter = letter_of(id)
    if matches(letter) and wanted(letter) then found[#found + 1] = letter end
    last = id
    if #found == max then return found, last end
    if nth == #ids and nth < MAX_BATCH then last = "" end
  end
  return found, last
end

-- A cancelled job cannot be replayed, nor can a job that is being stopped and has not ended yet.
local function can_replay(job)
  return job.state ~= "cancelled" and (job.stopped == 0 or job.finished ~= nil)
end

local function is_replayable(letter)
  return can_replay(job_numbered(letter.job))
end

-- Reopens the job if it has ended. Returns whether it had ended.
local function reopen(job)
  if job.state ~= "finished" and job.state ~= "failed" then return false end
  job.state, job.finished, job.stopped, job.deadline = "running", nil, 0, nil
  redis.call("ZREM", key("deadlines"), job.n)
  redis.call("ZREM", key("ended"), ordered(job.n))
  index_open_job(job)
  return true
end

local function delete_letter(letter)
  redis.call("HDEL", key("dead"), letter.id)
  redis.call("ZREM", key("dead-order"), letter.id)
  redis.call("ZREM", key("job-dead", letter.job), letter.id)
end
