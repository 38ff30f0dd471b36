import { lua } from './lua.js';

/**
 * What those who watch are told, in a stream (`KEYS[6]`) whose entries are numbered without a gap, so that whoever has
 * missed one notices. Nothing is told, and nothing written, while nobody watches. An entry without a text says that the
 * state has become another one.
 */
export const ANNOUNCE = lua`
local function announce(text)
  local number = ('%.0f'):format(redis.call('HINCRBY', KEYS[1], 'a#', 1))
  redis.call('XADD', KEYS[6], 'MAXLEN', '~', 1000, number .. '-1', 'c', text)
  redis.call('PEXPIRE', KEYS[6], 60000)
  return number
end
`;
