import type { Subject } from './subject.js';

const A = '/self-check/a';
const B = '/self-check/b';

/**
 * Throws if an operation of the subject does not do what its name says, so that it is not measured.
 * @returns true if it shares bytes with its callers: keeps given bytes or hands out its own
 */
export async function selfCheck(name: string, subject: Subject): Promise<boolean> {
  const expect = (holds: boolean, what: string): void => {
    if (!holds) throw new Error(`${name} does not ${what}`);
  };
  // The floors do not detect missing directories.
  const isGone = async (path: string) => {
    try {
      return !(await subject.exists(path));
    } catch {
      return true;
    }
  };
  const has = async (path: string, text: string) => (await subject.readText(path)) === text;
  await subject.mkdir(A);
  const given = new Uint8Array([1, 2, 3]);
  await subject.write(`${A}/file`, given);
  given[0] = 9;
  const answered = await subject.read(`${A}/file`);
  answered[1] = 9;
  const stored = await subject.read(`${A}/file`);
  expect(stored.length === 3, 'keep what it is given');
  const isSharing = stored[0] !== 1 || stored[1] !== 2;

  expect((await subject.size(`${A}/file`)) === 3 && (await subject.exists(`${A}/file`)), 'know its own file');
  expect(!(await subject.exists(`${A}/none`)), 'know what is not there');
  await subject.write(`${A}/file`, Buffer.from('né'));
  await subject.append(`${A}/file`, Buffer.from('w'));
  expect(await has(`${A}/file`, 'néw'), 'overwrite, append and decode');
  await subject.write(`${A}/Z`, Buffer.from('z'));
  expect(String(await subject.list(A)) === 'Z,file', 'list in order');
  if (subject.countFiles !== undefined) expect((await subject.countFiles(A)) === 2, 'count files');
  if (subject.countAll !== undefined) expect((await subject.countAll('/self-check')) === 3, 'count all');

  await subject.copy(A, B);
  await subject.write(`${B}/Z`, Buffer.from('changed'));
  expect((await has(`${A}/Z`, 'z')) && (await has(`${B}/file`, 'néw')), 'copy');
  await subject.remove(`${A}/Z`);
  await subject.rename(A, '/self-check/c');
  expect((await isGone(`${A}/file`)) && (await has('/self-check/c/file', 'néw')), 'rename');
  await subject.remove('/self-check/c');
  expect(await isGone('/self-check/c/file'), 'remove');

  if (subject.writer !== undefined) {
    await subject.writer(`${B}/file`)(Buffer.from('x'), 3);
    expect(await has(`${B}/file`, 'néx'), 'write at a place');
  }
  if (!subject.isAsync) checkVersions(subject, expect);
  await subject.remove('/self-check');
  return isSharing;
}

/** Checks the operations that only synchronous subjects have. */
function checkVersions(subject: Subject, expect: (holds: boolean, what: string) => void): void {
  const size = () => subject.size(`${B}/Z`);
  const change = (to: string): void => void subject.write(`${B}/Z`, Buffer.from(to));
  change('one');
  const before = subject.checkpoint?.();
  const forked = subject.fork?.();
  const saved = subject.save?.();
  change('three');
  if (forked !== undefined) expect(forked.size(`${B}/Z`) === 3 && size() === 5, 'fork');
  if (subject.rollback !== undefined) {
    subject.rollback(before);
    expect(size() === 3, 'roll back');
  }
  for (const load of ['load', 'adopt'] as const) {
    if (subject[load] === undefined) continue;
    change('three');
    subject[load](saved as Uint8Array);
    expect(size() === 3, load);
  }
}
