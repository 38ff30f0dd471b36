import { lua } from '../lua.js';

/**
 * The state in which the client knows that all its checks hold, in `ARGV[2]`: where it is still that one there is nothing to
 * look at, and nothing to be made for it. Every write draws a number or makes another root.
 */
export const UNCHANGED_STATE = lua`
if head[2] .. head[3] == ARGV[2] then
  keepAlive()
  return { 'K', head[2], head[3] }
end
`;

/**
 * Batches that only check, in the request's body: what a read relied on. A script of its own, because it needs so little. Answers the
 * state, and the positions of those that do not hold, each with those of its checks that fail.
 */
export const VALIDATION = lua`
local confirm = { views = {} }

-- The directory at a path, or false.
function confirm.directory(index)
  local view = confirm.views[index]
  if view ~= nil then return view end
  view = false
  if index == 0 then view = views.open((struct.unpack('>d', head[3])))
  else
    local parent = confirm.directory(parents[index])
    local bucket, from
    if parent then bucket, from = views.find(parent, names[index]) end
    if bucket and bucket.value:byte(from) == 100 then
      local own = objects.storedTransform(bucket.value:sub(from + 25, from + 57))
      view = views.open(struct.unpack('>d', bucket.value, from + 17), objects.compose(own, bucket.transform))
    end
  end
  confirm.views[index] = view
  return view
end

function confirm.idOf(value, at, transform)
  if transform then return objects.idInSlot(objects.copiedSlot(value:sub(at, at + 23), transform)) end
  return value:sub(at + 1, at + value:byte(at))
end

function confirm.entry(path, id, expected)
  local parent = path > 0 and confirm.directory(parents[path])
  local bucket, from
  if parent then bucket, from = views.find(parent, names[path]) end
  if path > 0 and not bucket then return id == '' end
  local kind = path == 0 and 100 or bucket.value:byte(from)
  if kind == 100 then
    local view = confirm.directory(path)
    return id == confirm.idOf(view.value, 163, view.transform)
      and (expected < 0 or struct.unpack('>d', view.value, 10) == expected)
  end
  local own = confirm.idOf(bucket.value, from + 69, kind ~= 108 and bucket.transform)
  if id ~= own or expected < 0 then return id == own end
  if kind == 108 then
    -- A file with several names is in the table of inodes.
    local inodes = struct.unpack('>d', head[3], 9)
    if inodes > 0 then bucket, from = views.find(views.open(inodes), own) end
    if inodes == 0 or not bucket then objects.fail('CORRUPT', 'a file with several names is not in their table') end
  end
  return struct.unpack('>d', bucket.value, from + 1) == expected
end

function confirm.holds(kind, path, id, expected, inodes)
  if kind == 1 then return confirm.entry(path, id, expected) end
  local view = confirm.directory(path)
  if not view or id ~= confirm.idOf(view.value, 163, view.transform) then return false end
  local listing, tree, count = struct.unpack('>ddd', view.value, 18)
  if kind == 2 then return count == 0 end
  if kind == 3 then return listing == expected end
  if tree ~= expected then return false end
  if struct.unpack('>d', view.value, 66) > 0 then return inodes == struct.unpack('>d', head[3], 25) end
  return inodes < 0
end

local batches, at = struct.unpack('>I2', blob, pathsEnd)
local answers = { 'K', head[2], head[3] }
for i = 0, batches - 1 do
  local checks, failed
  checks, at = struct.unpack('>I2', blob, at)
  for k = 1, checks do
    local kind, path, id, expected, inodes
    kind, path, id, expected, inodes, at = struct.unpack('>I1I2I1c0dd', blob, at)
    if not confirm.holds(kind, path, id, expected, inodes) then failed = (failed or i) .. ' ' .. k - 1 end
  end
  answers[#answers + 1] = failed
end
keepAlive()
return answers
`;
