import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { PROGRAM } from './bundle.js';
import { folder, ok, run } from './program.js';
import { repository } from './repository.js';
import { HAS_TMUX, Terminal } from './terminal.js';

const LINES = Array.from({ length: 20 }, (_, index) => `line ${index + 1}\n`).join('');

let terminal: Terminal | undefined;
afterEach(() => terminal?.close());

function open(cwd: string): Terminal {
  terminal = new Terminal(cwd);
  return terminal;
}

describe.skipIf(!HAS_TMUX)('in a terminal (needs tmux)', () => {
  it('what takes longer than a second says so on standard error, and no trace is left', async () => {
    const store = folder('slow');
    mkdirSync(join(store, 'many'));
    for (let index = 0; index < 150; index++) writeFileSync(join(store, 'many', `f${index}`), 'text\n');
    const { type, shows } = bound(open(store));
    const outside = folder('outside');
    const go = join(outside, 'go');
    // A disk on which each file takes some milliseconds, until the file `go` exists.
    const code = `import fs from 'node:fs'; import { syncBuiltinESMExports } from 'node:module';
      const wait = new Int32Array(new SharedArrayBuffer(4));
      for (const name of ['openSync', 'lstatSync']) {
        const work = fs[name];
        fs[name] = (...args) => {
          if (!fs.existsSync(${JSON.stringify(go)})) Atomics.wait(wait, 0, 0, Number(process.env.SLOW_MS));
          return work(...args);
        };
      }
      syncBuiltinESMExports();`;
    writeFileSync(join(store, 'slow.mjs'), code);
    const slowly = (ms: number): string => `SLOW_MS=${ms} NODE_OPTIONS='--import ./slow.mjs'`;
    for (const [line, label] of [
      ['fs grep -l text many', 'Searching…'],
      ["fs find 'many/**'", 'Searching…'],
    ] as const) {
      rmSync(go, { force: true });
      type(`clear; ${slowly(200)} scratchfs ${line} --store . > ${outside}/printed; echo "code $?"`);
      await shows(new RegExp(`^${label}`, 'm'));
      writeFileSync(go, '');
      await shows(/^code 0$/m);
      expect(terminal?.screen()).not.toContain(label);
      expect(readFileSync(join(outside, 'printed'), 'utf8')).not.toContain(label);
    }
    rmSync(go);
    const tar = `(until [ -e ${go} ]; do sleep 0.1; done; tar c many)`;
    type(`clear; ${tar} | scratchfs import tar - --store ${outside}/b.snapshot; echo "code $?"`);
    await shows(/^Reading…/m);
    writeFileSync(go, '');
    await shows(/Imported into \/: 150 files[\s\S]*^code 0$/m);
    expect(terminal?.screen()).not.toContain('Reading…');
    rmSync(go);
    type(`clear; ${slowly(10)} scratchfs fs find --json --store . > printed 2>&1; echo "code $?"`);
    await shows(/^code 0$/m);
    expect(readFileSync(join(store, 'printed'), 'utf8')).toMatch(/^\{.*\}\n$/);
  });

  it('shows what the pictures of the README show', () => {
    const script = fileURLToPath(new URL('../../.ci/terminal-pictures.mjs', import.meta.url));
    const env = { ...process.env, SCRATCHFS_TEST_PROGRAM: PROGRAM };
    const { status, stderr } = spawnSync(process.execPath, [script, '--check'], { env, encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  it('names and contents cannot move the cursor, and colours have a meaning', async () => {
    const store = folder('hostile');
    writeFileSync(join(store, 'a\u001b[2J\u202eb'), '\u001b]0;title\u0007text\n');
    const { type, shows } = bound(open(store));
    type(
      'scratchfs fs ls --store .; scratchfs fs cat --store . "$(printf "a\\033[2J\\342\\200\\256b")"; scratchfs fs ls nope --store .',
    );
    const screen = await shows('nope does not exist.');
    expect(screen).toContain('a\\e[2J\\u202eb');
    expect(screen).toContain('\\e]0;title\\u0007text');
    expect(terminal?.screen({ withColors: true })).toContain('\u001b[1m\u001b[31mscratchfs:');
  });

  it('accept -p takes hunks with one key each, and the rest stays in the attempt', async () => {
    const cwd = repository({ 'a.txt': LINES, 'b.txt': 'bee\n' });
    await ok(['fs', 'edit', 'a.txt', 'line 2\n', 'second\n'], { cwd });
    await ok(['fs', 'edit', 'a.txt', 'line 18\n', 'eighteenth\n'], { cwd });
    await ok(['fs', 'write', 'b.txt', 'BEE\n'], { cwd });
    expect((await run(['accept', '-p'], { cwd })).code).toBe(2);
    const { type, shows, press } = bound(open(cwd));
    type('scratchfs accept -p');
    await shows('Accept this hunk (1 of 2)? [y,n,a,d,q,?]');
    press('?');
    await shows('leave this one and the rest of the file');
    press('n');
    await shows('Accept this hunk (2 of 2)?');
    press('y');
    await shows('Accept this hunk (1 of 1)?');
    press('q');
    await shows(/Accepted .*a\.txt/);
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe(LINES.replace('line 18\n', 'eighteenth\n'));
    expect(readFileSync(join(cwd, 'b.txt'), 'utf8')).toBe('bee\n');
    expect(await ok(['diff', '--name-only'], { cwd })).toBe('a.txt\nb.txt\n');
  });

  it('discard asks, and a no or Ctrl-C changes nothing', async () => {
    const cwd = repository();
    await ok(['fork', 'trial'], { cwd });
    const { type, shows, press } = bound(open(cwd));
    type('scratchfs discard trial; echo "code $?"');
    await shows('Discard 1 attempt: trial?');
    press('n');
    await shows('code 4');
    type('clear; scratchfs discard trial; echo "code $?"');
    await shows(/^Discard 1 attempt: trial\?/);
    press('C-c');
    await shows('code 130');
    type('clear; scratchfs discard trial --no-input; echo "code $?"');
    await shows('code 4');
    expect(await ok(['attempts', '--names'], { cwd })).toBe('trial\n');
  });

  it('undo and redo ask before an accept, which is on the disk, and for nothing else', async () => {
    const cwd = repository();
    await ok(['fs', 'write', 'new.txt', 'new'], { cwd });
    await ok(['fs', 'rm', 'b.txt'], { cwd });
    await ok(['accept'], { cwd });
    await ok(['fs', 'write', 'later.txt', 'later'], { cwd });
    const { type, shows, press } = bound(open(cwd));
    type('scratchfs undo 3; echo "code $?"');
    await shows('Take back 3, Accept 2 paths: change 2 paths on your disk? [y,n,?]');
    press('n');
    expect(await shows('code 1')).toMatch(
      /Undid 4: .*\nNot undone 3: .*\nNot undone 2: .*\nOnly 1 of 3: you said no\.$/m,
    );
    expect(readdirSync(cwd)).toEqual(['.git', 'new.txt', 'src']);
    type('clear; scratchfs undo; echo "code $?"');
    await shows('on your disk? [y,n,?]');
    press('y');
    expect(await shows('code 0')).toMatch(
      /^Undid 3: .* \(2 paths on your disk\)\n {2}added {4}b\.txt\n {2}removed {2}new\.txt$/m,
    );
    expect(readdirSync(cwd)).toEqual(['.git', 'b.txt', 'src']);
    type('clear; scratchfs redo; echo "code $?"');
    await shows('Make again 3, Accept 2 paths: change 2 paths on your disk? [y,n,?]');
    press('n');
    await shows('code 4');
    expect(readdirSync(cwd)).toEqual(['.git', 'b.txt', 'src']);
  });

  it('rewind shows the changes beside the list of states, in any size and without colours', async () => {
    const cwd = repository({ 'b.txt': 'bee\n', 'long.txt': LINES });
    for (const text of ['1', '2', '3']) await ok(['fs', 'write', 'b.txt', `${text}\n`], { cwd });
    await ok(['fs', 'write', 'long.txt', LINES.replaceAll('line', 'row')], { cwd });
    const { type, shows, press } = bound(open(cwd));
    type('NO_COLOR=1 scratchfs rewind; echo "code $?"');
    await shows(/ \| After 3: Write \/b\.txt\n> 3 .* \| 1 path changed, 20 lines added, 20 lines removed\n/);
    press('Down');
    await shows(/^> 2 /m);
    const screen = await shows(/ \| \+2$/m);
    expect(screen).toMatch(/ \| -3$/m);
    expect(terminal?.screen({ withColors: true })).not.toContain('\u001b[3');
    terminal?.resize(60, 16);
    await shows(/^-{60}$/m);
    await shows(/^\+\+\+ b\/b.txt$/m);
    press('NPage', 'NPage');
    await shows(/^-row 9$/m);
    terminal?.resize(100, 40);
    await shows(/^> 2 .* \| /m);
    press('Enter');
    await shows('Go back to the state after 2? [y,n]');
    press('n', 'End', 'Up', 'Enter');
    await shows('Go back to the state after 1? [y,n]');
    await shows(/ \| \+1$/m);
    press('y');
    await shows(/Restore everything to operation 1[\s\S]*code 0/);
    expect(await ok(['fs', 'cat', 'b.txt'], { cwd })).toBe('1\n');
    expect(readFileSync(join(cwd, 'b.txt'), 'utf8')).toBe('bee\n');
    for (const [key, code] of [
      ['q', 4],
      ['C-c', 130],
    ] as const) {
      type('clear; scratchfs rewind; echo "code $?"');
      await shows('Back to the state after which operation');
      press(key);
      await shows(`code ${code}`);
    }
  });

  it('rewind takes back no operation that the person has not seen', async () => {
    const cwd = repository();
    for (const text of ['1', '2', '3']) await ok(['fs', 'write', 'b.txt', `${text}\n`], { cwd });
    const { type, shows, press } = bound(open(cwd));
    type('scratchfs rewind');
    await shows('+2');
    await ok(['fs', 'write', 'b.txt', 'unseen'], { cwd });
    press('Down');
    await shows('Another operation has come meanwhile');
    type('clear; scratchfs rewind');
    await shows(/> 3[\s\S]*\+3/);
    press('Enter');
    await shows('[y,n]');
    await ok(['fs', 'write', 'b.txt', 'unseen too'], { cwd });
    press('y');
    await shows('is not the one at hand any more');
    expect(await ok(['fs', 'cat', 'b.txt'], { cwd })).toBe('unseen too');
  });
});

/** Returns the methods of a terminal as functions. */
function bound(one: Terminal): Pick<Terminal, 'type' | 'shows' | 'press'> {
  return { type: one.type.bind(one), shows: one.shows.bind(one), press: one.press.bind(one) };
}
