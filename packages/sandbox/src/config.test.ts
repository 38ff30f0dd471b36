import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { parseSandboxConfig } from './config.js';
import { parseDeriveOptions } from './derive.js';

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('parseSandboxConfig', () => {
  it('fills in the defaults of the root form: not readonly, no size cap, writes with approval', () => {
    const config = parseSandboxConfig({ root: { root: '.' } });
    const rest = { suffixes: undefined, maxFileBytes: undefined, readApproval: false, writeApproval: true };
    expect(config).toEqual({
      root: { root: '.', readonly: false, ...rest },
      paths: undefined,
      network: false,
      requireOsSandbox: false,
    });
  });

  it('accepts the path of a root alone', () => {
    expect(parseSandboxConfig({ root: '/x', network: true })).toEqual(
      parseSandboxConfig({ root: { root: '/x' }, network: true }),
    );
    expect(() => parseSandboxConfig({ root: '' })).toThrow('sandbox.root.root must not be empty');
    expect(() => parseSandboxConfig({ root: 5 })).toThrow('sandbox.root must be a plain object, not 5');
  });

  it('fills in the defaults of a named path: read-only, writes with approval', () => {
    const config = parseSandboxConfig({ paths: { notes: { root: './notes' } } });
    expect(plain(config.paths)).toEqual({
      notes: { root: './notes', mode: 'ro', readApproval: false, writeApproval: true },
    });
  });

  it('accepts the same fields in snake_case and in camelCase', () => {
    const snake = parseSandboxConfig({
      paths: {
        a: {
          root: 'a',
          mode: 'rw',
          suffixes: ['.md', ''],
          max_file_bytes: 10,
          read_approval: true,
          write_approval: false,
        },
      },
      network: true,
      require_os_sandbox: true,
    });
    const camel = parseSandboxConfig({
      paths: {
        a: { root: 'a', mode: 'rw', suffixes: ['.md', ''], maxFileBytes: 10, readApproval: true, writeApproval: false },
      },
      network: true,
      requireOsSandbox: true,
    });
    expect(snake).toEqual(camel);
    expect(snake.paths?.['a']).toMatchObject({ maxFileBytes: 10, readApproval: true, writeApproval: false });
    expect(snake.requireOsSandbox).toBe(true);
  });

  it('returns its own result unchanged', () => {
    const config = parseSandboxConfig({ root: { root: '/x', readonly: true, suffixes: ['.a'], max_file_bytes: 0 } });
    expect(parseSandboxConfig(config)).toEqual(config);
  });

  it('treats null as no restriction', () => {
    const data = { root: { root: '.', suffixes: null, max_file_bytes: null }, paths: null };
    expect(parseSandboxConfig(data).root).toMatchObject({ suffixes: undefined, maxFileBytes: undefined });
  });

  it('accepts objects of another realm and those without a prototype', () => {
    const foreign: unknown = runInNewContext('({ root: { root: ".", suffixes: [".md"] } })');
    expect(parseSandboxConfig(foreign).root?.suffixes).toEqual(['.md']);
    expect(parseSandboxConfig(Object.assign(Object.create(null), { root: { root: '.' } })).root?.root).toBe('.');
  });

  it('returns frozen copies, so that later changes to the data have no effect', () => {
    const data = { paths: { a: { root: 'a', suffixes: ['.md'] } } };
    const config = parseSandboxConfig(data);
    data.paths.a.suffixes.push('.key');
    data.paths.a.root = '/';
    expect(config.paths?.['a']).toMatchObject({ root: 'a', suffixes: ['.md'] });
    for (const part of [config, config.paths, config.paths?.['a'], config.paths?.['a']?.suffixes]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
  });

  it('ignores prototypes, even polluted ones', () => {
    const prototype = Object.prototype as unknown as Record<string, unknown>;
    prototype['readonly'] = false;
    prototype['mode'] = 'rw';
    prototype['maxFileBytes'] = 5;
    try {
      expect(parseSandboxConfig({ paths: { a: { root: 'a' } } }).paths?.['a']).toMatchObject({
        mode: 'ro',
        maxFileBytes: undefined,
      });
      const inherited = Object.create({ root: { root: '/' } }) as object;
      expect(() => parseSandboxConfig(inherited)).toThrow('sandbox must be a plain object, not an object');
    } finally {
      for (const key of ['readonly', 'mode', 'maxFileBytes']) delete prototype[key];
    }
  });

  it('accepts __proto__ as a name like any other', () => {
    const config = parseSandboxConfig(JSON.parse('{"paths":{"__proto__":{"root":"p"}}}'));
    expect(Object.entries(config.paths ?? {}).map(([name, { root }]) => [name, root])).toEqual([['__proto__', 'p']]);
    expect(() => parseSandboxConfig(JSON.parse('{"root":{"root":"."},"__proto__":{}}'))).toThrow(
      "sandbox has no field '__proto__'",
    );
  });

  const getter = {
    get root() {
      return { root: '/' };
    },
  };
  class Config {
    root = { root: '.' };
  }
  it.each<[string, unknown, string]>([
    ['nothing', undefined, 'sandbox must be a plain object, not undefined'],
    ['null', null, 'sandbox must be a plain object, not null'],
    ['text', 'root', "sandbox must be a plain object, not 'root'"],
    ['a function', () => ({}), 'sandbox must be a plain object, not a function'],
    ['a list', [], 'sandbox must be a plain object, not a list'],
    ['an instance of a class', new Config(), 'sandbox must be a plain object, not an object'],
    ['neither root nor paths', {}, 'sandbox must have exactly one of root and paths'],
    ['both root and paths', { root: { root: '.' }, paths: {} }, 'sandbox must have exactly one of root and paths'],
    [
      'an unknown field',
      { root: { root: '.', readOnly: true } },
      "sandbox.root has no field 'readOnly'. It takes root, readonly,",
    ],
    [
      'an unknown field in snake_case',
      { root: { root: '.', max_file_bytes: 1, mode: 'ro' } },
      'It takes root, readonly, suffixes, max_file_bytes',
    ],
    ['a symbol as a key', { [Symbol('x')]: 1 }, 'sandbox must not have symbols as keys'],
    ['a getter', getter, 'sandbox.root must be a plain value, not a getter'],
    [
      'two spellings of one field',
      { root: { root: '.', maxFileBytes: 1, max_file_bytes: 2 } },
      "'maxFileBytes' and 'max_file_bytes' mix two spellings",
    ],
    ['a mixture of spellings', { root: { root: '.', maxFileBytes: 1 }, require_os_sandbox: true }, 'mix two spellings'],
    [
      'text for a boolean',
      { root: { root: '.', readonly: 'false' } },
      "sandbox.root.readonly must be true or false, not 'false'",
    ],
    ['a number for a boolean', { root: { root: '.' }, network: 0 }, 'sandbox.network must be true or false, not 0'],
    [
      'null for a boolean',
      { root: { root: '.', readonly: null } },
      'sandbox.root.readonly must be true or false, not null',
    ],
    ['a root that is missing', { root: {} }, 'sandbox.root.root must be a string, not undefined'],
    ['a root that is empty', { root: { root: '' } }, 'sandbox.root.root must not be empty'],
    [
      'a mode that is none',
      { paths: { a: { root: 'a', mode: 'w' } } },
      "sandbox.paths.a.mode must be ro or rw, not 'w'",
    ],
    [
      'a size that is text',
      { root: { root: '.', maxFileBytes: '5' } },
      "sandbox.root.maxFileBytes must be a number, not '5'",
    ],
    [
      'a size in snake_case',
      { root: { root: '.', max_file_bytes: '5' } },
      "sandbox.root.max_file_bytes must be a number, not '5'",
    ],
    [
      'a negative size',
      { root: { root: '.', maxFileBytes: -1 } },
      'sandbox.root.maxFileBytes must be a whole number from 0 on, not -1',
    ],
    ['a fractional size', { root: { root: '.', maxFileBytes: 1.5 } }, 'whole number from 0 on, not 1.5'],
    [
      'suffixes that are text',
      { root: { root: '.', suffixes: '.md' } },
      "sandbox.root.suffixes must be a list, not '.md'",
    ],
    [
      'a list with a hole',
      { root: { root: '.', suffixes: Object.assign(new Array(2), { 1: '.md' }) } },
      'sandbox.root.suffixes[0] must be a plain value',
    ],
    [
      'a suffix that is a number',
      { root: { root: '.', suffixes: ['.a', 1] } },
      'sandbox.root.suffixes[1] must be a string, not 1',
    ],
    [
      'a suffix without a dot',
      { root: { root: '.', suffixes: ['md'] } },
      "sandbox.root.suffixes[0] must be an ending such as '.md'",
    ],
    [
      'a suffix with a separator',
      { root: { root: '.', suffixes: ['./x'] } },
      'sandbox.root.suffixes[0] must be an ending',
    ],
    [
      'a name with a separator',
      { paths: { 'a/b': { root: 'a' } } },
      'sandbox.paths.a/b must be the name of a directory',
    ],
    ['a name that is ..', { paths: { '..': { root: 'a' } } }, 'sandbox.paths... must be the name of a directory'],
    ['an empty name', { paths: { '': { root: 'a' } } }, 'must be the name of a directory'],
    [
      'a name with a colon',
      { paths: { 'a:b': { root: 'a' } } },
      'sandbox.paths.a:b must not contain : or begin with ~',
    ],
    ['a name with ~', { paths: { '~a': { root: 'a' } } }, 'must not contain : or begin with ~'],
    ['a path that is text', { paths: { a: './a' } }, "sandbox.paths.a must be a plain object, not './a'"],
  ])('refuses %s, and names the field', (_, data, message) => {
    expect(() => parseSandboxConfig(data)).toThrow(message);
    expect(() => parseSandboxConfig(data)).toThrow(/^(?!.*\n)/);
  });

  it('escapes and shortens keys and values in its messages', () => {
    const long = `\u001b[31m${'x'.repeat(1000)}`;
    for (const data of [
      { [long]: 1 },
      { network: long },
      { paths: { [`${long}:`]: {} } },
      { root: { root: '.', readonly: long } },
    ]) {
      let message = '';
      try {
        parseSandboxConfig(data);
      } catch (error) {
        message = (error as Error).message;
      }
      expect(message).not.toBe('');
      expect(message).not.toContain('\u001b');
      expect(message.length).toBeLessThan(600);
    }
  });
});

describe('parseDeriveOptions', () => {
  it('accepts snake_case, and one path or several', () => {
    expect(parseDeriveOptions({ allow_read: '/src', allow_write: ['/out', '/tmp'], readonly: null })).toEqual({
      allowRead: ['/src'],
      allowWrite: ['/out', '/tmp'],
      readonly: undefined,
      inherit: false,
      strictEntries: false,
    });
  });

  it('distinguishes an empty list from an absent one', () => {
    expect(parseDeriveOptions({ allowWrite: [] }).allowWrite).toEqual([]);
    expect(parseDeriveOptions({}).allowWrite).toBeUndefined();
  });

  it.each<[string, unknown, string]>([
    ['a truthy text for readonly', { readonly: 'false' }, "derive.readonly must be true or false, not 'false'"],
    ['a truthy number for inherit', { inherit: 1 }, 'derive.inherit must be true or false, not 1'],
    ['a number in a list', { allowRead: [1] }, 'derive.allowRead[0] must be a string, not 1'],
    ['an empty entry', { allowRead: '' }, 'derive.allowRead must not be empty'],
    [
      'an object that looks like a list',
      { allowRead: { length: 1, 0: '/' } },
      'derive.allowRead must be a list, not an object',
    ],
    ['an unknown option', { allow: '/' }, "derive has no field 'allow'"],
  ])('refuses %s', (_, data, message) => {
    expect(() => parseDeriveOptions(data)).toThrow(message);
  });

  it('reads a list only once, so that a changing list cannot add entries', () => {
    let reads = 0;
    const list = new Proxy(['/src'], {
      getOwnPropertyDescriptor: (target, key) => {
        if (key === '0') reads += 1;
        return Reflect.getOwnPropertyDescriptor(target, key);
      },
    });
    expect(parseDeriveOptions({ allowRead: list }).allowRead).toEqual(['/src']);
    expect(reads).toBe(1);
  });
});
