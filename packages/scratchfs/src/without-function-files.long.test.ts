import { describe, expect, it } from 'vitest';
import { createFileSystem } from './index.js';

// Long tests have a process of their own: elsewhere another test has imported the entry point.
describe('files whose content a function returns', () => {
  it.each([() => 'x', { load: () => 'x' }])('are refused without their entry point: %o', (content) => {
    const open = () => createFileSystem({ files: { '/f': content } });
    expect(open).toThrow(
      new TypeError("Files whose content a function returns need import 'scratchfs/function-files'"),
    );
  });
});
