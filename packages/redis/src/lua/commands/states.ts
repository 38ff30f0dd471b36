import { lua } from '../lua.js';

/**
 * States that are kept: checkpoints, forks, and what a long load reads from. Keeping one is one more reference to its
 * root. `ARGV[2]` is the operation's number or 0, `ARGV[3]`
 * what to do, the rest its arguments. In the head a checkpoint is `c/field/id`, its name `n/field/name`, how many
 * there are `k/field`; `l/field` is when something that is only lent expires, `x/field` when a lock does, in the server's
 * milliseconds; `w/field` is the version that a state had when it was lent to be changed.
 */
export const STATES = lua`
redis.call('HLEN', KEYS[3])
-- Not refused by a server without memory left: to go back, to let go, and to read what is large.
if ARGV[3] ~= 'create' and ARGV[3] ~= 'begin' then keepResults() end
local waiting = redis.call('LLEN', KEYS[4])
local present = head[3]:sub(1, 32)

local function refer(bytes, by)
  local root, inodes = struct.unpack('>dd', bytes)
  refs.account(root, by)
  refs.account(inodes, by)
end

local function totalsOf(bytes)
  local root, _, linkedSize = struct.unpack('>ddd', bytes)
  local size, files, directories = struct.unpack('>ddd', objects.get(root), 42)
  return size + linkedSize, files + directories
end

local actions = {}

function actions.create(id, name, createdAt, max)
  local key = 'c/' .. field .. '/' .. id
  if redis.call('HEXISTS', KEYS[1], key) == 1 then return 'ok' end
  local nameKey = name ~= '' and 'n/' .. field .. '/' .. name:sub(2)
  if nameKey and redis.call('HEXISTS', KEYS[1], nameKey) == 1 then return 'exists' end
  local count = tonumber(redis.call('HGET', KEYS[1], 'k/' .. field) or 0)
  if tonumber(max) >= 0 and count >= tonumber(max) then return 'limit' end
  counter = counter + 1
  redis.call('HSET', KEYS[1], key, present .. struct.pack('>dd', tonumber(createdAt), counter) .. name, 'k/' .. field, count + 1, 'n', counter)
  if nameKey then redis.call('HSET', KEYS[1], nameKey, id) end
  refer(present, 1)
  return 'ok'
end

function actions.restore(id, maxSize, maxNodes)
  if isLocked() then return nil end
  local kept = redis.call('HGET', KEYS[1], 'c/' .. field .. '/' .. id)
  if not kept then return 'missing' end
  maxSize, maxNodes = tonumber(maxSize), tonumber(maxNodes)
  local size, nodes = totalsOf(present)
  local newSize, newNodes = totalsOf(kept)
  if maxSize >= 0 and newSize > maxSize and newSize > size then
    return ('l maxTotalSize %.0f %.0f %.0f'):format(maxSize, size, newSize)
  end
  if maxNodes >= 0 and newNodes > maxNodes and newNodes > nodes then
    return ('l maxNodeCount %.0f %.0f %.0f'):format(maxNodes, nodes, newNodes)
  end
  counter = counter + 1
  redis.call('HSET', KEYS[1], field, kept:sub(1, 32), 'n', counter)
  refer(kept, 1)
  refer(present, -1)
  if isWatched() then announce('') end
  return 'ok'
end

local function forget(key)
  local kept = redis.call('HGET', KEYS[1], key)
  if not kept then return false end
  redis.call('HDEL', KEYS[1], key)
  refer(kept, -1)
  return kept
end

function actions.drop(id)
  local kept = forget('c/' .. field .. '/' .. id)
  if not kept then return 'missing' end
  if #kept > 48 then redis.call('HDEL', KEYS[1], 'n/' .. field .. '/' .. kept:sub(50)) end
  redis.call('HINCRBY', KEYS[1], 'k/' .. field, -1)
  return 'ok'
end

-- For a commit in many steps: lends the state, and answers the version of all that it writes. With a lock nobody else
-- writes until it has ended, or has not been heard of for so long.
function actions.begin(key, ms, lockMs)
  actions.lend(key, ms)
  local root = objects.get((struct.unpack('>d', present)))
  redis.call('HSET', KEYS[1], 'w/' .. key, root:sub(26, 33))
  if lockMs ~= '0' then redis.call('HSET', KEYS[1], 'x/' .. field, milliseconds() + tonumber(lockMs)) end
  counter = counter + 1
  redis.call('HSET', KEYS[1], 'n', counter)
  return shown(counter)
end

function actions.lock(ms)
  redis.call('HSET', KEYS[1], 'x/' .. field, milliseconds() + tonumber(ms))
  return 'ok'
end

function actions.unlock()
  redis.call('HDEL', KEYS[1], 'x/' .. field)
  return 'ok'
end

-- Lends the present state under another field, until then.
function actions.lend(key, ms)
  if redis.call('HSETNX', KEYS[1], key, present) == 1 then refer(present, 1) end
  redis.call('HSET', KEYS[1], 'l/' .. key, milliseconds() + tonumber(ms))
  return 'ok'
end

function actions.renew(ms)
  redis.call('HSET', KEYS[1], 'l/' .. field, milliseconds() + tonumber(ms))
  return 'ok'
end

-- Fields of the head that begin so.
local function each(prefix, callback)
  local cursor = '0'
  repeat
    local page = redis.call('HSCAN', KEYS[1], cursor, 'COUNT', 500)
    cursor = page[1]
    for i = 1, #page[2], 2 do
      if page[2][i]:sub(1, #prefix) == prefix then callback(page[2][i]:sub(#prefix + 1), page[2][i + 1]) end
    end
  until cursor == '0'
end

-- Ends a state that was lent, with the checkpoints made of it.
local function giveBack(key)
  forget(key)
  each('c/' .. key .. '/', function(id) forget('c/' .. key .. '/' .. id) end)
  each('n/' .. key .. '/', function(name) redis.call('HDEL', KEYS[1], 'n/' .. key .. '/' .. name) end)
  redis.call('HDEL', KEYS[1], 'l/' .. key, 'k/' .. key, 'w/' .. key, 'x/' .. key)
end

function actions.giveBack(key)
  giveBack(key)
  return 'ok'
end

function actions.sweep()
  local time, expired = milliseconds(), {}
  each('l/', function(key, deadline)
    if tonumber(deadline) < time then expired[#expired + 1] = key end
  end)
  for _, key in ipairs(expired) do giveBack(key) end
  return 'ok'
end

function actions.list()
  local rows = {}
  each('c/' .. field .. '/', function(id, kept)
    rows[#rows + 1] = id
    rows[#rows + 1] = kept:sub(33)
  end)
  return rows
end

local seq = tonumber(ARGV[2])
if not known({ seq }) then return { 'F' } end
local answer = answered(seq)
if not answer then
  answer = actions[ARGV[3]](unpack(ARGV, 4))
  if not answer then return { 'W' } end
  waiting = waiting + refs.settle()
  if seq > 0 then remember({ seq, answer }) end
  keepAlive()
end
return { 'K', shown(counter), answer, waiting }
`;
