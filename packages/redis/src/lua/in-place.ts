import { lua } from './lua.js';

/**
 * A short way through a commit for what is asked most: one small file is new or gets another content, and no object on
 * the way to it is shared or seen through a transform. What is stored is then changed where it lies, byte for byte as
 * the long way leaves it, and the long way's part of the script, which Redis would have to make anew, is not made.
 * Nothing is written before everything was looked at; whatever is not as simple as that, a refusal too, goes the long way.
 */
export const IN_PLACE = lua`
local place = {}

-- The bucket where a name belongs: its number, what it holds, where its records begin, and where the one of the name does.
function place.find(way, directory, name)
  local root, n = struct.unpack('>dI4', directory, 74)
  local ref = objects.element(root, nil, n, objects.bucketOf(name, n), way)
  if ref == 0 then return end
  way[#way + 1] = ref
  local leaf = objects.of(76, ref)
  local first = 16 + struct.unpack('>I4', leaf, 12)
  local index = objects.indexOf(leaf, name, 16, first - 1)
  return ref, leaf, first, index and first + RECORD * index
end

-- The checks of a batch, by path, if each is about what lies under one, and where they end.
function place.checks(at)
  local ids, versions, count = {}, {}, nil
  count, at = struct.unpack('>I2', blob, at)
  for _ = 1, count do
    local kind, path, id, expected, _
    kind, path, id, expected, _, at = struct.unpack('>I1I2I1c0dd', blob, at)
    if kind ~= 1 or ids[path] then return end
    ids[path], versions[path] = id, expected
  end
  return ids, versions, at
end

-- A write of a content of one chunk, if that is all, but for the time that its directory gets.
function place.write(at)
  local count, kind, path, meta, id, touched, time
  count, kind, path, at = struct.unpack('>I2I1I2', blob, at)
  if kind == 8 then
    if count ~= 2 then return end
    count, touched, time, kind, path, at = count - 1, path, struct.unpack('>dI1I2', blob, at)
    if touched ~= parents[path] then return end
  end
  if count ~= 1 then return end
  if kind == 6 then meta, at = struct.unpack('>c44', blob, at)
  elseif kind == 1 and blob:byte(at) == 102 then meta, id, at = struct.unpack('>c44I1c0', blob, at + 1)
  else return end
  local size, staged, _, _, pieces, from = struct.unpack('>dI1c0ddI4', blob, at)
  if staged ~= '' or pieces ~= 1 or size > CHUNK then return end
  local _, offset, digest, bytes = struct.unpack('>I4I4c16I4c0', blob, from)
  if offset == 0 and #bytes >= size then return path, meta, id, size, digest, bytes, time end
end

function place.holds(ids, versions, path, slot, version)
  local id = ids[path]
  if not id then return true end
  ids[path] = nil
  return id == objects.idInSlot(slot) and (versions[path] < 0 or versions[path] == version)
end

function place.commit(seq, at)
  local maxFile, maxSize, maxNodes, fixed
  maxFile, maxSize, maxNodes, fixed, at = struct.unpack('>dddd', blob, at)
  local ids, versions
  ids, versions, at = place.checks(at)
  if not ids then return end
  -- One that only checks ends here.
  if blob:byte(at) ~= 1 then return end
  local growth, added, sizes
  growth, added, sizes, at = struct.unpack('>ddI2', blob, at + 1)
  for _ = 1, sizes do
    local _, requested
    _, requested, at = struct.unpack('>I2d', blob, at)
    if requested > maxFile then return end
  end
  local path, meta, id, size, digest, bytes, time = place.write(at)
  if not path then return end

  local steps = { path }
  while parents[steps[#steps]] > 0 do steps[#steps + 1] = parents[steps[#steps]] end
  local ref, _, linkedSize = struct.unpack('>ddd', head[3])
  local way, above, bucket, leaf, first, from = {}, {}, nil, nil, nil, nil
  for i = #steps, 1, -1 do
    local directory = objects.of(68, ref)
    if directory:byte(86) ~= 0 then return end
    local version = struct.unpack('>d', directory, 10)
    if not place.holds(ids, versions, steps[i + 1] or 0, directory:sub(163, 186), version) then return end
    way[#way + 1] = ref
    above[#above + 1] = ref
    above[#above + 1] = directory
    bucket, leaf, first, from = place.find(way, directory, names[steps[i]])
    if not bucket then return end
    if i > 1 then
      if not from or leaf:byte(from) ~= 100 or leaf:byte(from + 25) ~= 0 then return end
      ref = struct.unpack('>d', leaf, from + 17)
    end
  end

  local old, chunk = 0, 0
  if id then
    if from or (ids[path] or '') ~= '' then return end
    ids[path] = nil
    local count, n = struct.unpack('>d', above[#above], 34), struct.unpack('>I4', above[#above], 82)
    if count + 1 > n * GROW then return end
  else
    if not from or leaf:byte(from) ~= 102 then return end
    local version
    version, old, chunk = struct.unpack('>ddd', leaf, from + 1)
    if old > CHUNK or not place.holds(ids, versions, path, leaf:sub(from + 69, from + 92), version) then return end
    if chunk > 0 then way[#way + 1] = chunk end
  end
  if next(ids) then return end
  local total, files, directories = struct.unpack('>ddd', above[2], 42)
  if maxSize >= 0 and total + linkedSize + growth > maxSize then return end
  if maxNodes >= 0 and files + directories + added > maxNodes then return end
  if further > 0 then
    local shared = redis.call('HMGET', KEYS[3], unpack(way))
    for i = 1, #way do if shared[i] then return end end
  end

  -- From here on it is done.
  local spent, version = 0, fixed
  if fixed <= 0 then
    counter = counter + 1
    version = counter
  end
  if chunk == 0 then
    counter = counter + 1
    chunk, spent = counter, 1
  end
  local facts = struct.pack('>ddd', version, size, chunk) .. meta
  if id then
    local name = names[path]
    local count, length = struct.unpack('>I2I4', leaf, 10)
    leaf = struct.pack('>c1dI2I4', 'L', bucket, count + 1, length + #name + 2) .. leaf:sub(16, first - 1)
      .. '\0' .. name .. '/' .. leaf:sub(first) .. 'f' .. facts .. objects.slotOfId(id)
  else leaf = leaf:sub(1, from) .. facts .. leaf:sub(from + 69) end
  local fields = { bucket, leaf, chunk, objects.chunk(chunk, bytes, digest) }
  for i = 1, #above, 2 do
    local directory = above[i + 1]
    local own, listing, _, count, total, files = struct.unpack('>dddddd', directory, 10)
    local rest = directory:sub(58)
    if i == #above - 1 then
      if id then listing, count = version, count + 1 end
      if time then
        own = version
        rest = directory:sub(58, 138) .. struct.pack('>d', time):rep(2) .. directory:sub(155)
      end
    end
    fields[#fields + 1] = above[i]
    fields[#fields + 1] = directory:sub(1, 9)
      .. struct.pack('>dddddd', own, listing, version, count, total + size - old, files + (id and 1 or 0)) .. rest
  end
  for i = 2, #fields, 2 do spent = spent + 5 + #fields[i] / 512 end
  redis.call('HSET', KEYS[2], unpack(fields))
  redis.call('HSET', KEYS[1], 'n', counter)
  local answer = 'o ' .. shown(version)
  remember(seq > 0 and { seq, answer } or {})
  keepAlive()
  return { 'K', shown(counter), waiting .. ' ' .. math.ceil(spent), '', answer }
end

if n == 1 and not watched and not head[5] and ARGV[9] ~= '1' and not answered(numbers[1]) then
  local answer = place.commit(numbers[1], at + 12)
  if answer then return answer end
end
`;
