import { lua } from './lua.js';

/**
 * What became of an operation, by its number (`ARGV[5]`). One that did not arrive is given up: it will be refused.
 */
export const OUTCOME = lua`
local U = KEYS[5]
local floorSeq, answer = spread(call('HMGET', U, 'f', ARGV[5]))
if not floorSeq then return { 'F' } end
if tonumber(ARGV[5]) < tonumber(floorSeq) then return { 'K', ARGV[2], 's' } end
if not answer then
  answer = 'a'
  -- Written first, so that a server without memory left takes the rest too.
  call('PEXPIRE', U, 86400000)
  call('HSET', U, ARGV[5], answer)
end
return { 'K', ('%.0f'):format(counter), answer }
`;
