import { lua } from './lua.js';

/**
 * A short way through a commit for what is asked most: each batch makes one small file, or gives one another content, and no object
 * on the way to it is shared or seen through a transform. What is stored is then changed where it lies, byte for byte as
 * the long way leaves it, and the long way's part of the script, which Redis would have to make anew, is not made.
 * Nothing is written before everything was looked at; whatever is not as simple as that, a refusal too, goes the long way.
 */
export const IN_PLACE = lua`
-- What has been looked at, as the batches so far leave it: directories and places by path, buckets and pages by number.
local place = { directories = {}, holders = {}, indexes = {}, buckets = {}, pages = {}, chunks = {}, way = {}, numbers = 0 }

-- A page of an array, looked at once.
function place.page(ref)
  local page = place.pages[ref]
  if not page then
    page = objects.of(65, ref)
    place.pages[ref] = page
    place.way[#place.way + 1] = ref
  end
  return page
end

-- The bucket where a path's name belongs, and the position of its record; no bucket where the way is not simple.
function place.find(path)
  local bucket, name = place.holders[path], names[path]
  if not bucket then
    local directory = place.directory(parents[path])
    if not directory then return end
    local ref = objects.element(directory.root, nil, directory.n, objects.bucketOf(name, directory.n), place.page)
    if ref == 0 then return end
    bucket = place.buckets[ref]
    if not bucket then
      local value = objects.of(76, ref)
      local count, length = struct.unpack('>I2I4', value, 10)
      bucket = { value = value, count = count, first = 16 + length, directory = directory, others = {}, names = {} }
      place.buckets[ref] = bucket
      place.way[#place.way + 1] = ref
    end
    place.holders[path] = bucket
    place.indexes[path] = objects.indexOf(bucket.value, name, 16, bucket.first - 1)
  end
  return bucket, place.indexes[path]
end

-- A record as the batches so far leave it: where it begins, and in what.
function place.record(bucket, index)
  local other = bucket.others[index]
  if other then return other, 1 end
  return bucket.value, bucket.first + RECORD * index
end

-- The directory at a path, or nothing.
function place.directory(path)
  local directory = place.directories[path]
  if directory then return directory end
  local ref, up
  if path == 0 then ref = struct.unpack('>d', head[3])
  else
    local bucket, index = place.find(path)
    if not index then return end
    local record, from = place.record(bucket, index)
    if record:byte(from) ~= 100 or record:byte(from + 25) ~= 0 then return end
    ref, up = struct.unpack('>d', record, from + 17), bucket.directory
  end
  local value = objects.of(68, ref)
  if value:byte(86) ~= 0 then return end
  directory = { ref = ref, value = value, up = up }
  directory.own, directory.listing, directory.tree, directory.count, directory.size, directory.files,
    directory.directories, directory.linked, directory.root, directory.n = struct.unpack('>dddddddddI4', value, 10)
  place.directories[path] = directory
  place.way[#place.way + 1] = ref
  return directory
end

-- Whether a node with a version lies under a path; nothing where that is not simple.
function place.holds(path, id, expected)
  local kind, record, from = 100, nil, nil
  if path > 0 then
    local bucket, index = place.find(path)
    if not bucket then return end
    if not index then return id == '' end
    record, from = place.record(bucket, index)
    kind = record:byte(from)
  end
  if kind == 108 then return end
  local value, at, version = record, nil, nil
  if kind == 100 then
    local directory = place.directory(path)
    if not directory then return end
    value, at, version = directory.value, 163, directory.own
  else at, version = from + 69, struct.unpack('>d', record, from + 1) end
  return value:byte(at) == #id and value:sub(at + 1, at + #id) == id and (expected < 0 or version == expected)
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
  local _, offset, position = struct.unpack('>I4I4I4', blob, from)
  local chunk = ARGV[10 + position]
  if offset == 0 and objects.lengthOf(chunk) >= size then return path, meta, id, size, chunk, time end
end

function place.newId()
  place.numbers = place.numbers + 1
  return counter + place.numbers
end

-- One name more, whose record comes last.
function place.add(bucket, path, record)
  place.indexes[path] = bucket.count
  bucket.others[bucket.count] = record
  bucket.count = bucket.count + 1
  bucket.names[#bucket.names + 1] = '\0' .. names[path] .. '/'
end

-- A bucket with its other records, put together once: each string that is made costs its length.
function place.stored(bucket)
  local value, first, before = bucket.value, bucket.first, struct.unpack('>I2', bucket.value, 10)
  local pieces, kept = {}, 0
  if bucket.count > before then
    local added = table.concat(bucket.names)
    pieces = { value:sub(1, 9), struct.pack('>I2I4', bucket.count, first - 16 + #added), value:sub(16, first - 1), added }
  end
  for index = 0, bucket.count - 1 do
    local other = bucket.others[index]
    if other then
      if kept < math.min(index, before) or #pieces == 0 then
        pieces[#pieces + 1] = value:sub(#pieces == 0 and 1 or first + RECORD * kept, first + RECORD * math.min(index, before) - 1)
      end
      pieces[#pieces + 1] = other
      kept = index + 1
    end
  end
  if kept < before then pieces[#pieces + 1] = value:sub(first + RECORD * kept) end
  return table.concat(pieces)
end

-- What a batch answers, where it goes the short way.
function place.batch(at)
  local _, maxSize, maxNodes, fixed, checks
  _, maxSize, maxNodes, fixed, checks, at = struct.unpack('>ddddI2', blob, at)
  local failed = ''
  for i = 1, checks do
    local kind, path, id, expected
    kind, path, id, expected, _, at = struct.unpack('>I1I2I1c0dd', blob, at)
    local holds
    if kind == 1 then holds = place.holds(path, id, expected) end
    if holds == nil then return end
    if not holds then failed = failed .. ' ' .. i - 1 end
  end
  if failed ~= '' then return 'c' .. failed end
  -- One that only checks ends here.
  if blob:byte(at) ~= 1 then return end
  local growth, added, sizes
  growth, added, sizes, at = struct.unpack('>ddI2', blob, at + 1)
  -- What may be larger than a file may be is looked at the long way.
  if sizes > 0 then return end
  local path, meta, id, size, bytes, time = place.write(at)
  if not path then return end

  local bucket, index = place.find(path)
  if not bucket then return end
  local directory, old, chunk = bucket.directory, 0, 0
  local record, from
  if id then
    if index or directory.count + 1 > directory.n * GROW then return end
  else
    if not index then return end
    record, from = place.record(bucket, index)
    if record:byte(from) ~= 102 then return end
    old, chunk = struct.unpack('>dd', record, from + 9)
    if old > CHUNK then return end
    if chunk > 0 and not place.chunks[chunk] then place.way[#place.way + 1] = chunk end
  end
  local root = place.directory(0)
  if maxSize >= 0 and root.size + place.linkedSize + growth > maxSize then return end
  if maxNodes >= 0 and root.files + root.directories + added > maxNodes then return end

  local version = fixed > 0 and fixed or place.newId()
  if chunk == 0 then
    chunk = place.newId()
    place.spent = place.spent + 1
  end
  place.chunks[chunk] = bytes
  local slot = id and objects.slotOfId(id) or record:sub(from + 69, from + 92)
  local written = struct.pack('>c1dddc44c24', 'f', version, size, chunk, meta, slot)
  if id then
    place.add(bucket, path, written)
    directory.count, directory.listing = directory.count + 1, version
  else bucket.others[index] = written end
  if time then directory.own, directory.time = version, time end
  while directory do
    directory.tree, directory.isChanged = version, true
    directory.size, directory.files = directory.size + size - old, directory.files + (id and 1 or 0)
    directory = directory.up
  end
  return 'o ' .. shown(version)
end

function place.isAnyShared()
  if further == 0 then return false end
  local shared
  objects.inHundreds(place.way, function(...)
    for _, one in ipairs(redis.call('HMGET', KEYS[3], ...)) do shared = shared or one end
  end)
  return shared
end

function place.store()
  local fields = {}
  local function keep(ref, value)
    fields[#fields + 1] = ref
    fields[#fields + 1] = value
    place.spent = place.spent + 5 + #value / 512
  end
  for ref, bucket in pairs(place.buckets) do
    if next(bucket.others) then keep(ref, place.stored(bucket)) end
  end
  for ref, value in pairs(place.chunks) do keep(ref, value) end
  for _, x in pairs(place.directories) do
    if x.isChanged then
      local times = x.time and struct.pack('>d', x.time):rep(2) or x.value:sub(139, 154)
      keep(x.ref, struct.pack('>c9ddddddc0c16c0', x.value, x.own, x.listing, x.tree, x.count, x.size, x.files,
        x.value:sub(58, 138), times, x.value:sub(155)))
    end
  end
  objects.inHundreds(fields, function(...) redis.call('HSET', KEYS[2], ...) end)
  counter = counter + place.numbers
  redis.call('HSET', KEYS[1], 'n', counter)
end

-- The answer to all batches, if each of them goes the short way.
function place.commit()
  place.linkedSize, place.spent = struct.unpack('>d', head[3], 17), 0
  if not answerAll(place.batch) or place.isAnyShared() then return end
  local isChanged = next(place.chunks)
  if isChanged then place.store() end
  if isChanged or #results > 0 or ARGV[6] ~= '' then remember(results) end
  return finished(place.spent)
end

if not watched and not head[5] and ARGV[9] ~= '1' then
  local answer = place.commit()
  if answer then return answer end
end
`;
