-- One beat of a node: it says that it lives, and learns the time of Redis.
--
-- KEYS[1]  {nodes}:NODE        string  "<ms of the beat> <up or gone> <address>"
-- ARGV[1]  "up", or "gone" for a node that ends
-- ARGV[2]  address at which other nodes reach it
-- ARGV[3]  how long the last sign of life is kept, in ms
-- returns  {seconds, microseconds}: the time of Redis, which is also the time of the beat

local time = redis.call('TIME')
local beat_ms = string.format('%d%03d', time[1], math.floor(time[2] / 1000))
redis.call('SET', KEYS[1], beat_ms .. ' ' .. ARGV[1] .. ' ' .. ARGV[2], 'PX', ARGV[3])
return time
