-- Write to a lease what it says already, so that WAIT on this connection covers all before.
--
-- KEYS[1]  room:{CODE}:lease   hash    node
-- ARGV     none
-- returns  1 written; 0 there is no such lease, and nothing was written

local node = redis.call('HMGET', KEYS[1], 'node')[1]
if not node then
  return 0
end
redis.call('HSET', KEYS[1], 'node', node)
return 1
