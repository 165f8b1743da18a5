-- seen: which URLs a scope has, exactly, in sets of 64-bit integers small enough for Redis to pack (8 bytes each). A
-- scope grows by linear hashing: one bucket is split for every FILL new URLs, so no call ever rebuilds much.
-- At FILL = 200 the fullest buckets hold about 400 on average and 500 at the very most: a set of over 512 would be
-- unpacked to ten times its size.
local FILL = 200
local scopes = {}

local function scope_numbered(n)
  local known = scopes[n]
  if known then return known end
  local row = redis.call("HMGET", key("scope", n), "count", "level", "split")
  local scope = { n = n, count = tonumber(row[1] or 0), level = tonumber(row[2] or 0), split = tonumber(row[3] or 0) }
  scope.before, scope.size, scope.buckets = scope.count, 2 ^ scope.level, shard .. ":seen:" .. n .. ":"
  scopes[n] = scope
  return scope
end

-- Of a fingerprint's 64 bits a double holds the first 53: those are what buckets go by.
local function hash_of(fingerprint)
  return math.floor(fingerprint / 2048)
end

local function bucket_of(scope, fingerprint)
  local hash = hash_of(fingerprint)
  local bucket = hash % scope.size
  if bucket < scope.split then bucket = hash % (2 * scope.size) end
  return scope.buckets .. bucket
end

local function has_seen(scope, fingerprint)
  return redis.call("SISMEMBER", bucket_of(scope, fingerprint), fingerprint) == 1
end

-- True if it was new.
local function see(scope, fingerprint)
  local added = redis.call("SADD", bucket_of(scope, fingerprint), fingerprint)
  scope.count = scope.count + added
  return added == 1
end

local function split_bucket(scope)
  local from, to = scope.buckets .. scope.split, scope.buckets .. scope.split + scope.size
  local stay, move = {}, {}
  for _, fingerprint in ipairs(redis.call("SMEMBERS", from)) do
    local half = hash_of(fingerprint) % (2 * scope.size) == scope.split and stay or move
    half[#half + 1] = fingerprint
  end
  redis.call("DEL", from)
  if #stay > 0 then redis.call("SADD", from, unpack(stay)) end
  if #move > 0 then redis.call("SADD", to, unpack(move)) end
  scope.split = scope.split + 1
  if scope.split == scope.size then scope.level, scope.size, scope.split = scope.level + 1, 2 * scope.size, 0 end
end

local function save_scopes()
  for n, scope in pairs(scopes) do
    if scope.count ~= scope.before then
      while scope.count > FILL * (scope.size + scope.split) do split_bucket(scope) end
      redis.call("HSET", key("scope", n), "count", scope.count, "level", scope.level, "split", scope.split)
    end
  end
end

-- Where entries lapse each has an end, and leads to its task: "until job task".
local function see_for_a_while(job, fingerprint, task)
  local lapsing = key("lapse", job.scope)
  local entry = redis.call("HGET", lapsing, fingerprint)
  if entry and tonumber(string.match(entry, "^%S+")) > step.now then return false end
  if task then
    redis.call("HSET", lapsing, fingerprint, exact(step.now + job.lapse) .. " " .. job.n .. " " .. task)
  end
  return true
end
