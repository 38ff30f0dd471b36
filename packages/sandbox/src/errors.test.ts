import { FsError, isFsError } from '@scratchfs/core';
import { describe, expect, it } from 'vitest';
import {
  FileSandboxError,
  FileTooLargeError,
  isSandboxError,
  PathNotInSandboxError,
  PathNotWritableError,
  refusalError,
  restated,
  SandboxError,
  SandboxPermissionEscalationError,
  SandboxViolation,
  SuffixNotAllowedError,
} from './errors.js';

const words = { readableRoots: ['/src', '/docs'], writableRoots: [] };

describe('the errors of a sandbox', () => {
  it.each<[SandboxError, string, string]>([
    [
      new PathNotInSandboxError('/x', ['./portfolio', './pipeline']),
      'EACCES',
      "Cannot access '/x': path is outside sandbox.\nReadable paths: ./portfolio, ./pipeline",
    ],
    [
      new PathNotInSandboxError('/x', []),
      'EACCES',
      "Cannot access '/x': path is outside sandbox.\nReadable paths: none",
    ],
    [
      new PathNotInSandboxError('/x', ['/'], ['/work']),
      'EACCES',
      "Cannot access '/x': path is outside sandbox.\nReadable paths: /\nWritable paths: /work",
    ],
    [
      new PathNotWritableError('a/b', ['portfolio']),
      'EROFS',
      "Cannot write to 'a/b': path is read-only.\nWritable paths: portfolio",
    ],
    [
      new SuffixNotAllowedError('a.exe', ['.md', '.pdf', '']),
      'EACCES',
      "Cannot access 'a.exe': suffix not allowed.\nAllowed suffixes: .md, .pdf, (no suffix)",
    ],
    [
      new FileTooLargeError('big', 11, 10),
      'EFBIG',
      "Cannot read 'big': file too large (11 bytes).\nMaximum allowed: 10 bytes",
    ],
  ])('have the promised lines', (error, code, message) => {
    expect(error.message).toBe(message);
    expect(error.code).toBe(code);
    expect(error.toString()).toBe(`${error.name}: ${message}`);
    expect(error.name).toBe(error.constructor.name);
  });

  it('are file errors with a code, for programs that only know FsError', () => {
    const error = new PathNotWritableError('a', []);
    expect(isFsError(error, 'EROFS')).toBe(true);
    expect(error).toMatchObject({ errno: -30, path: 'a' });
    expect(error).toBeInstanceOf(FsError);
  });

  it('have one base class with three names', () => {
    expect(SandboxViolation).toBe(SandboxError);
    expect(FileSandboxError).toBe(SandboxError);
    expect(new SandboxPermissionEscalationError('x', words, 'y')).toBeInstanceOf(SandboxViolation);
    expect(new SandboxError('EACCES', 'x').name).toBe('SandboxError');
  });

  it('are recognized by a tag, even if they come from another copy of the package', () => {
    expect(isSandboxError({ [Symbol.for('scratchfs.SandboxError')]: true })).toBe(true);
    for (const other of [new FsError('EACCES'), null, undefined, 'x']) expect(isSandboxError(other)).toBe(false);
  });

  it('escape control characters and shorten long paths and roots', () => {
    const path = `\u001b[31m\n${'x'.repeat(300)}`;
    for (const error of [
      new PathNotInSandboxError(path, [path]),
      new PathNotWritableError(path, [path]),
      new SuffixNotAllowedError(path, [path]),
      new FileTooLargeError(path, 1, 0),
    ]) {
      const [first = '', second = '', ...more] = error.message.split('\n');
      expect(more).toEqual([]);
      expect(`${first}${second}`).not.toMatch(/\p{Cc}/u);
      expect(first).toContain('\\u001b[31m\\u000a');
      expect(error.message.length).toBeLessThan(600);
      expect(error.path).toBe(path);
    }
  });

  it('can be restated with the path that another caller passed', () => {
    const told = (error: SandboxError): string => restated(error, 'given', words).message;
    expect(told(new PathNotInSandboxError('/inner', []))).toBe(
      "Cannot access 'given': path is outside sandbox.\nReadable paths: /src, /docs",
    );
    expect(told(new PathNotWritableError('/inner', ['/inner']))).toBe(
      "Cannot write to 'given': path is read-only.\nWritable paths: none",
    );
    expect(told(new SuffixNotAllowedError('/inner', ['.a']))).toContain(
      "'given': suffix not allowed.\nAllowed suffixes: .a",
    );
    expect(told(new FileTooLargeError('/inner', 2, 1))).toContain("'given': file too large (2 bytes)");
    const escalation = new SandboxPermissionEscalationError('Problem', words, 'Advice');
    expect(restated(escalation, 'given', words)).toBe(escalation);
    expect(escalation.message).toBe(
      'Problem\nReadable paths of the parent: /src, /docs\nWritable paths of the parent: none\nAdvice',
    );
  });

  it('are created from the refusals of a policy', () => {
    const made = [
      refusalError({ kind: 'outside' }, 'p', words),
      refusalError({ kind: 'notWritable' }, 'p', words),
      refusalError({ kind: 'suffix', allowed: ['.a'] }, 'p', words),
      refusalError({ kind: 'tooLarge', size: 2, limit: 1 }, 'p', words),
    ];
    expect(made.map(({ name }) => name)).toEqual([
      'PathNotInSandboxError',
      'PathNotWritableError',
      'SuffixNotAllowedError',
      'FileTooLargeError',
    ]);
  });
});
