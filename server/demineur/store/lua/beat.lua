-- One beat of a node: it says that it lives, and learns the time of Redis.
--
-- KEYS[1]  {nodes}:NODE        string  "<ms of the beat> <address>"
-- ARGV[1]  address at which other nodes reach it
-- ARGV[2]  how long the last sign of life is kept, in ms
-- returns  {seconds, microseconds}: the time of Redis, which is also the time of the beat

local time = redis.call('TIME')
local beat_ms = string.format('%d%03d', time[1], math.floor(time[2] / 1000))
redis.call('SET', KEYS[1], beat_ms .. ' ' .. ARGV[1], 'PX', ARGV[2])
return time
