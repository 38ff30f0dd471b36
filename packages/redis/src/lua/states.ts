import { lua } from './lua.js';

/**
 * States that are kept: checkpoints, forks, and what a long load reads from. Keeping one is one more reference to its
 * root. `ARGV[3]` is the field of the state that the request is about, `ARGV[7]` the operation's number or 0, `ARGV[8]`
 * what to do, the rest its arguments. In the head a checkpoint is `c/field/id`, its name `n/field/name`, how many
 * there are `k/field`; `l/field` is when a state that is only lent expires, in the server's milliseconds.
 */
export const STATES = lua`
call('HLEN', R)
call('LLEN', Q)
enterState(head[3])
local field = ARGV[3]
local present = sub(head[3], 1, 32)

local function now()
  local time = call('TIME')
  return time[1] * 1000 + floor(time[2] / 1000)
end

local function refer(bytes, by)
  local root, inodes = unpack('>dd', bytes)
  account(root, by)
  account(inodes, by)
end

local function totalsOf(bytes)
  local root, _, linkedSize = unpack('>ddd', bytes)
  local size, files, directories = unpack('>ddd', get(root), 42)
  return size + linkedSize, files + directories
end

local actions = {}

function actions.create(id, name, createdAt, max)
  local key = 'c/' .. field .. '/' .. id
  if call('HEXISTS', M, key) == 1 then return 'ok' end
  local nameKey = name ~= '' and 'n/' .. field .. '/' .. sub(name, 2)
  if nameKey and call('HEXISTS', M, nameKey) == 1 then return 'exists' end
  local count = tonumber(call('HGET', M, 'k/' .. field) or 0)
  if tonumber(max) >= 0 and count >= tonumber(max) then return 'limit' end
  counter = counter + 1
  call('HSET', M, key, present .. pack('>dd', tonumber(createdAt), counter) .. name, 'k/' .. field, count + 1, 'n', counter)
  if nameKey then call('HSET', M, nameKey, id) end
  refer(present, 1)
  return 'ok'
end

function actions.restore(id, maxSize, maxNodes)
  local kept = call('HGET', M, 'c/' .. field .. '/' .. id)
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
  call('HSET', M, field, sub(kept, 1, 32), 'n', counter)
  refer(kept, 1)
  refer(present, -1)
  return 'ok'
end

local function forget(key)
  local kept = call('HGET', M, key)
  if not kept then return false end
  call('HDEL', M, key)
  refer(kept, -1)
  return kept
end

function actions.drop(id)
  local kept = forget('c/' .. field .. '/' .. id)
  if not kept then return 'missing' end
  if #kept > 48 then call('HDEL', M, 'n/' .. field .. '/' .. sub(kept, 50)) end
  call('HINCRBY', M, 'k/' .. field, -1)
  return 'ok'
end

-- Lends the present state under another field, until then.
function actions.lend(key, ms)
  if call('HSETNX', M, key, present) == 1 then refer(present, 1) end
  call('HSET', M, 'l/' .. key, now() + tonumber(ms))
  return 'ok'
end

function actions.renew(ms)
  call('HSET', M, 'l/' .. field, now() + tonumber(ms))
  return 'ok'
end

-- Fields of the head that begin so.
local function each(prefix, callback)
  local cursor = '0'
  repeat
    local page = call('HSCAN', M, cursor, 'COUNT', 500)
    cursor = page[1]
    for i = 1, #page[2], 2 do
      if sub(page[2][i], 1, #prefix) == prefix then callback(sub(page[2][i], #prefix + 1), page[2][i + 1]) end
    end
  until cursor == '0'
end

-- Ends a state that was lent, with the checkpoints made of it.
local function giveBack(key)
  forget(key)
  each('c/' .. key .. '/', function(id) forget('c/' .. key .. '/' .. id) end)
  each('n/' .. key .. '/', function(name) call('HDEL', M, 'n/' .. key .. '/' .. name) end)
  call('HDEL', M, 'l/' .. key, 'k/' .. key)
end

function actions.giveBack()
  giveBack(field)
  return 'ok'
end

function actions.sweep()
  local time, expired = now(), {}
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
    rows[#rows + 1] = sub(kept, 33)
  end)
  return rows
end

local seq = tonumber(ARGV[7])
local answer = answered(seq)
if not answer then
  answer = actions[ARGV[8]](spread(ARGV, 9))
  settle()
  if seq > 0 then
    remember({ seq, answer })
    acknowledge()
  end
  keepAlive()
end
return { 'K', ('%.0f'):format(counter), answer, call('LLEN', Q) }
`;
