import { lua } from './lua.js';

/**
 * How every script begins: is this the filesystem that the client knows, and has it not gone back in time? `ARGV[1]` is
 * the token of filesystem and epoch, `ARGV[2]` the highest number that the client has seen, `ARGV[3]` the field of the
 * head that holds the state, `ARGV[4]` the milliseconds after which an unused filesystem expires, or 0.
 */
export const ENTER = lua`
local head = call('HMGET', M, 't', 'n', ARGV[3])
if head[1] ~= ARGV[1] then return { 'E', head[1] or '' } end
counter = tonumber(head[2])
if counter < tonumber(ARGV[2]) then return { 'B' } end
if not head[3] then return { 'G' } end
started = counter

local function enterState(bytes)
  local root, inodes, linkedSize, inodesVersion = unpack('>dddd', bytes)
  state = {
    k = 'S', own = true, dirty = true, root = root, inodes = inodes, linkedSize = linkedSize,
    inodesVersion = inodesVersion, refs = { root = root, inodes = inodes },
  }
end

local function stateBytes()
  return pack('>dddd', state.refs.root, state.refs.inodes, state.linkedSize, state.inodesVersion)
end

local function keepAlive()
  local ttl = tonumber(ARGV[4])
  if ttl > 0 then
    for _, key in ipairs({ M, O, R, Q }) do call('PEXPIRE', key, ttl) end
  end
end
`;
