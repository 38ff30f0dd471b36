const list = (words: string): readonly string[] => Object.freeze(words.trim().split(/\s+/));

/** Friendly adjectives for names of attempts: easy to say and to type, each different. */
export const ADJECTIVES = list(`
  able agile airy amber ample apt azure balmy blithe bold brave breezy bright brisk bubbly calm candid cheery chipper
  civil clean clear clever comfy coral cosy crisp curious dapper daring deft dewy eager early earnest easy elegant even
  fair fancy fine fleet floral fluent fond frank free fresh gentle gifted glad gleaming golden grand happy hardy hearty
  honest humble ideal jolly jovial joyful keen kind level light likely limber lively loyal lucid lucky lunar major
  mellow merry mighty mild minty modest neat nimble noble open patient peppy plucky polite prime proud pure quick quiet
  rapid ready regal rosy ruby sandy serene sharp shiny silent silver simple sincere sleek smart smooth snug solar solid
  spry stable starry steady sturdy sunny super sweet swift tidy tranquil true trusty upbeat valiant vast vivid warm
  wise witty young zesty
`);

/** Friendly nouns for names of attempts: animals and plants. */
export const NOUNS = list(`
  acorn alder alpaca antelope ant apple ash aspen aster avocet badger bamboo basil bear beaver bee beetle birch bison
  bluebell bobcat bramble bream bunting camel canary caribou cedar cherry chestnut chough clover condor coot coral
  cormorant crane cricket crocus curlew cypress daisy deer dingo dolphin dove dragonfly duck dunlin eagle egret eider
  elder elk elm falcon fennel fern ferret fig finch firefly flamingo fox gannet gazelle gecko gibbon giraffe goldfinch
  goose gorse grebe grouse gull hamster hare hawk hazel heather hedgehog heron hippo holly honeybee hoopoe ibex ibis
  iguana iris ivy jackdaw jaguar jasmine jay juniper kestrel kingfisher kite kiwi koala lapwing larch lark laurel lemur
  leopard lilac lily linden linnet lion llama lobster lotus lynx macaw magnolia magpie manatee maple marigold marmot
  marten martin meerkat mint mole moose moth myrtle newt nightingale nuthatch oak ocelot olive orchid oriole osprey
  otter owl oyster panda panther parrot pelican penguin peony perch petrel pheasant pigeon pine pipit plover poplar
  poppy primrose puffin quail quince rabbit raccoon raven redwing reindeer robin rook rose rowan sable sage salmon
  sandpiper seal sequoia shrew siskin skylark snipe sparrow spruce squirrel starling stoat stork swallow swan swift
  tapir teal tern thistle thrush thyme tiger toucan trout tulip turtle vole wagtail walnut walrus warbler whale wigeon
  willow wolf wombat woodlark wren yak yarrow yew zebra
`);
