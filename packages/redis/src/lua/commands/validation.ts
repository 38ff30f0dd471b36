import { DIRECTORY_AT, RECORD_FIELD } from '../layout.js';
import { lua } from '../lua.js';

/**
 * Returns immediately if the state is still the one in `ARGV[2]`, in which all checks of the request held before. Every
 * write changes the counter or the root.
 */
export const UNCHANGED_STATE = lua`
if head[2] .. head[3] == ARGV[2] then
  keepAlive()
  return { 'K', head[2], head[3] }
end
`;

/**
 * Validates read-only batches: the checks of what a read relied on. A script of its own, because it needs few of the
 * parts. Returns the state, and for each batch that fails its position and those of its failed checks.
 */
export const VALIDATION = lua`
local validation = { views = {} }

-- Returns the directory at a path, or false.
function validation.directory(index)
  local view = validation.views[index]
  if view ~= nil then return view end
  view = false
  if index == 0 then view = views.open((struct.unpack('>d', head[3])))
  else
    local parent = validation.directory(parents[index])
    local bucket, from
    if parent then bucket, from = views.find(parent, names[index]) end
    if bucket and bucket.value:byte(from) == 100 then
      local own = objects.storedTransform(bucket.value:sub(from + ${RECORD_FIELD.meta}, from + ${RECORD_FIELD.meta + 32}))
      view = views.open(struct.unpack('>d', bucket.value, from + ${RECORD_FIELD.reference}), objects.compose(own, bucket.transform))
    end
  end
  validation.views[index] = view
  return view
end

function validation.idOf(value, at, transform)
  if transform then return objects.idInSlot(objects.copiedSlot(value:sub(at, at + 23), transform)) end
  return value:sub(at + 1, at + value:byte(at))
end

function validation.entry(path, id, expected)
  local parent = path > 0 and validation.directory(parents[path])
  local bucket, from
  if parent then bucket, from = views.find(parent, names[path]) end
  if path > 0 and not bucket then return id == '' end
  local kind = path == 0 and 100 or bucket.value:byte(from)
  if kind == 100 then
    local view = validation.directory(path)
    return id == validation.idOf(view.value, ${DIRECTORY_AT.node}, view.transform)
      and (expected < 0 or struct.unpack('>d', view.value, ${DIRECTORY_AT.version}) == expected)
  end
  local own = validation.idOf(bucket.value, from + ${RECORD_FIELD.node}, kind ~= 108 and bucket.transform)
  if id ~= own or expected < 0 then return id == own end
  if kind == 108 then
    -- A file with several names is in the table of inodes.
    local inodes = struct.unpack('>d', head[3], 9)
    if inodes > 0 then bucket, from = views.find(views.open(inodes), own) end
    if inodes == 0 or not bucket then objects.fail('CORRUPT', 'a file with several names is not in their table') end
  end
  return struct.unpack('>d', bucket.value, from + ${RECORD_FIELD.version}) == expected
end

function validation.holds(kind, path, id, expected, inodes)
  if kind == 1 then return validation.entry(path, id, expected) end
  local view = validation.directory(path)
  if not view or id ~= validation.idOf(view.value, ${DIRECTORY_AT.node}, view.transform) then return false end
  local listing, tree, count = struct.unpack('>ddd', view.value, ${DIRECTORY_AT.listing})
  if kind == 2 then return count == 0 end
  if kind == 3 then return listing == expected end
  if tree ~= expected then return false end
  if struct.unpack('>d', view.value, ${DIRECTORY_AT.linked}) > 0 then return inodes == struct.unpack('>d', head[3], 25) end
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
    if not validation.holds(kind, path, id, expected, inodes) then failed = (failed or i) .. ' ' .. k - 1 end
  end
  answers[#answers + 1] = failed
end
keepAlive()
return answers
`;
