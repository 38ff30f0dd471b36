import { lua } from '../lua.js';

/**
 * For scripts that only look: objects are looked into where they lie, and nothing is made of them. A view is a directory's object with
 * the transform it is seen through.
 */
export const VIEWS = lua`
local views = {}

-- Nothing is stored here: what was read once is at hand for whatever is asked next.
local read = objects.get
function objects.get(id)
  local value = objects.fresh[id]
  if not value then
    value = read(id)
    objects.fresh[id] = value
  end
  return value
end

function views.open(ref, transform)
  local value = objects.of(68, ref)
  local root, n = struct.unpack('>dI4', value, 74)
  local beneath = objects.compose(objects.storedTransform(value:sub(86, 118)), transform)
  return { value = value, transform = transform, root = root, n = n, beneath = beneath, buckets = {} }
end

-- A bucket by its number, or false: what it holds, where its first record begins, and how it is seen.
function views.bucket(view, at)
  local bucket = view.buckets[at]
  if bucket == nil then
    local ref, transform = objects.element(view.root, view.beneath, view.n, at)
    bucket = false
    if ref ~= 0 then
      local value = objects.of(76, ref)
      bucket = { value = value, first = 16 + struct.unpack('>I4', value, 12), transform = transform }
    end
    view.buckets[at] = bucket
  end
  return bucket
end

-- The bucket that holds a name, and where its record begins there.
function views.find(view, name)
  local bucket = views.bucket(view, objects.bucketOf(name, view.n))
  local index = bucket and objects.indexOf(bucket.value, name, 16, bucket.first - 1)
  if index then return bucket, bucket.first + RECORD * index end
end
`;
