import { expect, it } from 'vitest';
import { mount, observe, overlay, readonly } from './layers.js';

it.each([[null], [undefined], [{}], ['/'], [{ readFile: 1 }]])(
  '%s is refused with a message that a filesystem is needed',
  (value) => {
    const not = value as never;
    const message = /must be a filesystem/;
    for (const work of [() => readonly(not), () => overlay(not), () => observe(not, () => {}), () => mount(not, {})]) {
      expect(work).toThrow(message);
    }
  },
);
