import { lua } from './lua.js';

/**
 * Appends changes to the stream for watchers (`KEYS[6]`). Entries have consecutive numbers, so that a watcher notices a
 * missed one. An entry without text says that the whole state was replaced.
 */
export const ANNOUNCE = lua`
local function announce(text)
  local number = ('%.0f'):format(redis.call('HINCRBY', KEYS[1], 'a#', 1))
  redis.call('XADD', KEYS[6], 'MAXLEN', '~', 1000, number .. '-1', 'c', text)
  redis.call('PEXPIRE', KEYS[6], 60000)
  return number
end
`;
