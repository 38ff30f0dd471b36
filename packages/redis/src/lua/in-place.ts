import { lua } from './lua.js';

/**
 * A short way through a commit for what is asked most: each batch makes one small file, or gives one another content, and no object
 * on the way to it is shared or seen through a transform. What is stored is then changed where it lies, byte for byte as
 * the long way leaves it, and the long way's part of the script, which Redis would have to make anew, is not made. For the same
 * reason there are few functions here. Nothing is written before everything was looked at; whatever is not as simple as that, a
 * refusal too, goes the long way.
 */
export const IN_PLACE = lua`
local function inPlace()
  -- By path the directory that it is, where others lie in it, the bucket that has its name, and the position there.
  local directories, buckets, indexes = {}, {}, {}
  -- By number what was read on the way, as the batches so far leave it; chunks are what they write.
  local pages, opened, chunks, way = {}, {}, {}, {}
  local linkedSize, drawn, spent = struct.unpack('>d', head[3], 17), 0, 0

  -- An object of a kind, if it is there.
  local function read(kind, ref)
    local value = redis.call('HGET', KEYS[2], ref)
    if not value then return end
    local found, number = struct.unpack('>Bd', value)
    way[#way + 1] = ref
    return found == kind and number == ref and value
  end

  -- Looks for the directory of a path; whether the way to it is simple.
  local function open(path)
    local ref, up
    if path == 0 then ref = struct.unpack('>d', head[3])
    else
      local index = indexes[path]
      if not index then return false end
      up = buckets[path]
      local from = up.first + RECORD * index
      local kind, _, transform
      kind, _, _, ref, transform = struct.unpack('>BdddB', up.value, from)
      if kind ~= 100 or transform ~= 0 then return false end
      up = up.directory
    end
    local value = read(68, ref)
    if not value or value:byte(86) ~= 0 then return false end
    local own, listing, tree, count, size, files, nested, linked, root, n = struct.unpack('>dddddddddI4', value, 10)
    directories[path] = {
      ref = ref, value = value, up = up, own = own, listing = listing, tree = tree, count = count, size = size,
      files = files, nested = nested, root = root, n = n, time = false, isChanged = false,
    }
    return true
  end

  -- Looks for the bucket of a name and the position of its record; whether the way to it is simple.
  local function find(path)
    local parent, name = parents[path], names[path]
    if not directories[parent] and not open(parent) then return false end
    local directory = directories[parent]
    local ref, n, i, span = directory.root, directory.n, 0, 1
    if n > 1 then
      -- As bucketOf and element do.
      local half = 1
      while half * 2 <= n do half = half * 2 end
      i = hashes[name] % (half * 2)
      if i >= n then i = i - half end
      while span * FANOUT < n do span = span * FANOUT end
      while span >= 1 do
        local page = pages[ref] or ref > 0 and read(65, ref)
        if not page then return false end
        pages[ref] = page
        local at, transform = 11 + 33 * page:byte(10) + 9 * math.floor(i / span), nil
        if at > #page then return false end
        transform, ref = struct.unpack('>Bd', page, at)
        if transform > 0 then return false end
        i, span = i % span, span / FANOUT
      end
    end
    if ref == 0 then return false end
    local bucket = opened[ref]
    if not bucket then
      local value = read(76, ref)
      if not value then return false end
      local count, length = struct.unpack('>I2I4', value, 10)
      bucket = { value = value, count = count, first = 16 + length, directory = directory, others = {}, added = '' }
      opened[ref] = bucket
    end
    buckets[path] = bucket
    -- As indexOf does.
    local value, last, at = bucket.value, bucket.first - 1, 16
    local sought = name .. '/'
    repeat at = value:find(sought, at + 1, true) until not at or at > last or value:byte(at - 1) == 0
    if at and at <= last then
      local index, before = 0, 16
      while before < at - 1 do index, before = index + 1, value:find('\0', before + 1, true) end
      indexes[path] = index
    end
    return true
  end

  for path = 1, #names do
    if not find(path) then return end
  end
  if not directories[0] and not open(0) then return end
  local root = directories[0]

  -- What a batch answers, where it goes the short way.
  local function run(at)
    local _, maxSize, maxNodes, fixed, checks
    _, maxSize, maxNodes, fixed, checks, at = struct.unpack('>ddddI2', blob, at)
    local failed = ''
    for i = 1, checks do
      local kind, path, id, expected
      kind, path, id, expected, _, at = struct.unpack('>BI2Bc0dd', blob, at)
      if kind ~= 1 then return end
      local index, value, slot, version, isThere = indexes[path], nil, 163, nil, true
      local directory = directories[path]
      if directory then value, version = directory.value, directory.own
      elseif index then
        local bucket = buckets[path]
        local other = bucket.others[index]
        local from = other and 1 or bucket.first + RECORD * index
        value = other or bucket.value
        kind, version = struct.unpack('>Bd', value, from)
        if kind ~= 102 and kind ~= 115 then return end
        slot = from + 69
      else isThere = id == '' end
      if value then
        isThere = struct.unpack('Bc0', value, slot) == id and (expected < 0 or version == expected)
      end
      if not isThere then failed = failed .. ' ' .. i - 1 end
    end
    if failed ~= '' then return 'c' .. failed end
    -- One that only checks ends here.
    if blob:byte(at) ~= 1 then return end
    local growth, added, sizes, count, kind, path
    growth, added, sizes, at = struct.unpack('>ddI2', blob, at + 1)
    -- What may be larger than a file may be is looked at the long way.
    if sizes > 0 then return end

    -- A write of a content of one chunk, if that is all, but for the time that its directory gets.
    count, kind, path, at = struct.unpack('>I2BI2', blob, at)
    local time, touched
    if kind == 8 then
      touched, time, kind, path, at = path, struct.unpack('>dBI2', blob, at)
      if count ~= 2 or touched ~= parents[path] then return end
    elseif count ~= 1 then return end
    local meta, id, letter
    if kind == 6 then meta, at = struct.unpack('>c44', blob, at)
    elseif kind == 1 then
      letter, meta, id, at = struct.unpack('>Bc44Bc0', blob, at)
      if letter ~= 102 then return end
    else return end
    local size, staged, pieces, _, offset, position
    size, staged, _, _, pieces, at = struct.unpack('>dBc0ddI4', blob, at)
    if staged ~= '' or pieces ~= 1 or size > CHUNK then return end
    _, offset, position = struct.unpack('>I4I4I4', blob, at)
    local bytes = ARGV[CONTENTS + position]
    -- Of a chunk of one segment, 34 are not content.
    if offset > 0 or #bytes - 34 < size then return end

    local bucket, index = buckets[path], indexes[path]
    local directory, old, chunk, slot = bucket.directory, 0, 0, nil
    if id then
      if index or directory.count + 1 > directory.n * GROW then return end
      slot = string.char(#id) .. id .. ('\0'):rep(23 - #id)
    else
      if not index then return end
      local other = bucket.others[index]
      local from = other and 1 or bucket.first + RECORD * index
      local value = other or bucket.value
      kind, _, old, chunk = struct.unpack('>Bddd', value, from)
      slot = value:sub(from + 69, from + 92)
      if kind ~= 102 or old > CHUNK then return end
      if chunk > 0 and not chunks[chunk] then way[#way + 1] = chunk end
    end
    if maxSize >= 0 and root.size + linkedSize + growth > maxSize then return end
    if maxNodes >= 0 and root.files + root.nested + added > maxNodes then return end

    local version = fixed
    if version == 0 then
      drawn = drawn + 1
      version = counter + drawn
    end
    if chunk == 0 then
      drawn, spent = drawn + 1, spent + 1
      chunk = counter + drawn
    end
    chunks[chunk] = bytes
    local record = struct.pack('>Bdddc44c24', 102, version, size, chunk, meta, slot)
    if id then
      index = bucket.count
      indexes[path], bucket.count, bucket.added = index, index + 1, bucket.added .. '\0' .. names[path] .. '/'
      directory.count, directory.listing = directory.count + 1, version
    end
    bucket.others[index] = record
    if time then directory.own, directory.time = version, time end
    while directory do
      directory.tree, directory.isChanged = version, true
      directory.size, directory.files = directory.size + size - old, directory.files + (id and 1 or 0)
      directory = directory.up
    end
    return 'o ' .. shown(version)
  end

  if not answerAll(run) then return end
  if further > 0 then
    local shared
    inHundreds(way, function(...)
      for _, one in ipairs(redis.call('HMGET', KEYS[3], ...)) do shared = shared or one end
    end)
    if shared then return end
  end

  local fields = {}
  local function keep(ref, value)
    fields[#fields + 1] = ref
    fields[#fields + 1] = value
    spent = spent + 5 + #value / 512
  end
  for ref, bucket in pairs(opened) do
    -- A bucket with its other records, put together once: each string that is made costs its length.
    local value, first, others = bucket.value, bucket.first, bucket.others
    local before = struct.unpack('>I2', value, 10)
    if next(others) then
      local pieces, from = {}, 1
      if bucket.count > before then
        local length = first - 16 + #bucket.added
        pieces = { value:sub(1, 9), struct.pack('>I2I4', bucket.count, length), value:sub(16, first - 1), bucket.added }
        from = first
      end
      for index = 0, bucket.count - 1 do
        local other = others[index]
        if other then
          local at = first + RECORD * math.min(index, before)
          if at > from then pieces[#pieces + 1] = value:sub(from, at - 1) end
          pieces[#pieces + 1] = other
          from = at + RECORD
        end
      end
      if from <= #value then pieces[#pieces + 1] = value:sub(from) end
      keep(ref, table.concat(pieces))
    end
  end
  for ref, value in pairs(chunks) do keep(ref, value) end
  if #fields > 0 then
    for _, x in pairs(directories) do
      if x.isChanged then
        local times = x.time and struct.pack('>d', x.time):rep(2) or x.value:sub(139, 154)
        keep(x.ref, struct.pack('>c9ddddddc0c16c0', x.value, x.own, x.listing, x.tree, x.count, x.size, x.files,
          x.value:sub(58, 138), times, x.value:sub(155)))
      end
    end
    inHundreds(fields, function(...) redis.call('HSET', KEYS[2], ...) end)
    counter = counter + drawn
    redis.call('HSET', KEYS[1], 'n', counter)
  end
  if #results > 0 or settled ~= '' or keepsResults == 1 then remember(results, #fields == 0) end
  return finished(spent)
end

if not watched and not head[5] and removes == 0 then
  local answer = inPlace()
  if answer then return answer end
end
`;
