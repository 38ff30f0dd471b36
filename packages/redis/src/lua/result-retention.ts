import { lua } from './lua.js';

/** The client's table of results, `KEYS[5]`: kept for a day, and on as long as the client asks for that. */
export const RESULT_RETENTION = lua`
local RESULTS_MS = '86400000'

-- Called before a script writes anything else it also lets it go on where the server has no memory left: only the first
-- write is refused there, and this never is.
local function keepResults()
  redis.call('PEXPIRE', KEYS[5], RESULTS_MS)
end
`;
