import { expect, it } from 'vitest';
import { restrict } from '../layers/restrict.js';
import { sample } from '../testing/sample-file-system.js';
import { Internals, internalsOf } from './internals.js';

/** Returns the constructor of an object and those that it inherits from. */
function constructorsOf(object: object): object[] {
  const found: object[] = [];
  for (let at: unknown = object.constructor; typeof at === 'function' && at !== Function.prototype; )
    at = Object.getPrototypeOf(found[found.push(at) - 1]);
  return found;
}

it('keeps the internals out of reach of code that has the filesystem', () => {
  const fileSystem = sample({ '/f': 'x' });
  for (const guarded of [fileSystem, restrict(fileSystem, { check: () => {}, isVisible: () => true })]) {
    const constructors = constructorsOf(guarded);
    expect(constructors.length).toBeGreaterThan(0);
    for (const holder of constructors) {
      for (const name of Object.getOwnPropertyNames(holder)) {
        const value = (holder as Record<string, unknown>)[name];
        if (typeof value !== 'function') continue;
        expect.soft(() => expect(value.call(holder, guarded)).not.toBeInstanceOf(Internals), name).not.toThrow();
      }
    }
  }
});

it('lets nobody exchange a base class, which would be given what the next fork has', () => {
  const fileSystem = sample({ '/f': 'x' });
  for (const guarded of [fileSystem, restrict(fileSystem, { check: () => {}, isVisible: () => true })]) {
    const inherited = constructorsOf(guarded).filter((one) => Object.getPrototypeOf(one) !== Function.prototype);
    expect(inherited.length).toBeGreaterThan(0);
    for (const one of inherited) expect(() => Object.setPrototypeOf(one, class {})).toThrow(TypeError);
  }
});

it('finds the internals of filesystems of the engine alone', () => {
  const fileSystem = sample({ '/f': 'x' });
  expect(internalsOf(fileSystem)).toBeInstanceOf(Internals);
  for (const other of [{}, Object.create(fileSystem), new Proxy(fileSystem, {}), undefined, null, 1])
    expect(internalsOf(other as never)).toBeUndefined();
});
