-- Put a room on the lobby's list, or renew it there; stale rooms fall off.
--
-- KEYS[1]  {lobby}:rooms       hash    code -> opaque entry
-- KEYS[2]  {lobby}:seen        zset    code -> ms at which its node last put it
-- ARGV[1]  code
-- ARGV[2]  entry
-- ARGV[3]  now, in ms
-- ARGV[4]  rooms last put before this are stale, in ms
-- ARGV[5]  time to live of the whole list, in ms
-- returns  number of stale rooms that fell off, at most 100 a call

local stale = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', '(' .. ARGV[4], 'LIMIT', 0, 100)
if #stale > 0 then
  redis.call('ZREM', KEYS[2], unpack(stale))
  redis.call('HDEL', KEYS[1], unpack(stale))
end
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[5])
redis.call('PEXPIRE', KEYS[2], ARGV[5])
return #stale
