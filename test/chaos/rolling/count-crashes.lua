-- count-crashes: count the tasks of a shard whose worker has crashed. For tests only. Cost: O(n) in all keys.
-- KEYS  1 the prefix of the shard's keys
-- Reply: the number of such tasks.
local shard, crashed = KEYS[1], 0
local function keys(name) return redis.call("KEYS", (string.gsub(shard, "[{}]", "?")) .. ":" .. name) end
local function add(is_crashed) crashed = crashed + (is_crashed and 1 or 0) end

for _, pattern in ipairs({ "back:*", "delayed:*" }) do
  for _, name in ipairs(keys(pattern)) do
    for _, member in ipairs(redis.call("ZRANGE", name, 0, -1)) do
      add(cmsgpack.unpack(string.sub(member, 7))[3] > 0)
    end
  end
end
-- An open lease counts as one crash until the task is settled. A task in its first lease has another encoding (0x92).
for _, value in ipairs(redis.call("HVALS", shard .. ":leases")) do
  if string.byte(value) ~= 0x92 then add(cmsgpack.unpack(value)[3] > 1) end
end
for _, letter in ipairs(redis.call("HVALS", shard .. ":dead")) do
  add(cmsgpack.unpack(letter)[5] == "crashed_worker")
end
return crashed
