/**
 * Makes the pictures of the command line in `.github/`: runs the commands in a terminal of tmux, and writes what it
 * shows as SVG.
 *
 *     node .ci/terminal-pictures.mjs
 *     node .ci/terminal-pictures.mjs --check    # writes nothing: fails if a picture is not what the program prints now
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { root } from './lib.mjs';

const COLUMNS = 92;
const CELL = { width: 8.4, height: 19 };
const COLORS = { 31: '#c0392b', 32: '#2e7d32', 33: '#b26a00', 34: '#1f5fbf', 35: '#8e3fa8', 36: '#00798c' };
const TEXT = '#24292f';
const PAPER = '#f6f8fa';

const ROWS = 60;

/** Commands of each picture, and keys for what they ask. */
const PICTURES = {
  'terminal-review': ['scratchfs diff --stat', 'scratchfs log', 'scratchfs undo', 'scratchfs show 2'],
  'terminal-rewind': ['scratchfs rewind', { key: 'Down' }, { key: 'Down' }],
  'terminal-accept': ['scratchfs accept -p', { key: 'y' }, { key: 'n' }, { key: 'y' }],
};
const ROWS_OF = { 'terminal-rewind': 18 };

const home = mkdtempSync(join(tmpdir(), 'scratchfs-pictures-'));
const project = join(home, 'project');
// The tests have a bundle, which starts faster.
const bundled = process.env.SCRATCHFS_TEST_PROGRAM;
const program = bundled
  ? `node ${bundled}`
  : `node --conditions=@scratchfs/source --import ${pathToFileURL(join(root, 'node_modules/tsx/dist/loader.mjs'))} ${join(root, 'packages/cli/src/bin.ts')}`;
const environment = {
  PATH: process.env.PATH,
  HOME: home,
  XDG_STATE_HOME: join(home, 'state'),
  TERM: 'screen-256color',
  LANG: 'C.UTF-8',
  PS1: '$ ',
};

function prepare() {
  mkdirSync(join(project, 'src'), { recursive: true });
  const lines = Array.from({ length: 24 }, (_, index) => `export const step${index + 1} = ${index + 1};\n`);
  writeFileSync(join(project, 'src', 'steps.ts'), lines.join(''));
  writeFileSync(join(project, 'notes.md'), '# Notes\n');
  const scratchfs = (...args) =>
    execFileSync('/bin/sh', ['-c', `${program} "$@"`, 'sh', ...args], { cwd: project, env: environment });
  execFileSync('git', ['init', '-q'], { cwd: project, env: environment });
  scratchfs('fs', 'edit', 'src/steps.ts', 'step2 = 2', 'step2 = 20');
  scratchfs('fs', 'edit', 'src/steps.ts', 'step20 = 20', 'step20 = 200');
  scratchfs('fs', 'write', 'src/new.ts', 'export {};\n');
  scratchfs('fs', 'rm', 'notes.md');
}

// A server of its own for each picture: one that has been told to end may still take the next session.
let pictures = 0;
let socket = join(home, 'tmux');
const tmux = (...args) => execFileSync('tmux', ['-S', socket, ...args], { encoding: 'utf8', env: environment });

const screenNow = () => tmux('capture-pane', '-p').trimEnd();

/** Waits until the screen has changed, the shell or a question waits for the keyboard, and nothing more is drawn. */
async function settled(before) {
  for (let last = before, same = 0; same < 5; ) {
    await sleep(150);
    const screen = screenNow();
    const isWaiting = screen !== before && /\n\$$|^\$$|\?\]$|q leaves$/.test(screen);
    same = isWaiting && screen === last ? same + 1 : 0;
    last = screen;
  }
}

async function capture(commands, rows) {
  socket = join(home, `tmux-${++pictures}`);
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  tmux(
    '-f',
    '/dev/null',
    'new-session',
    '-d',
    '-x',
    String(COLUMNS),
    '-y',
    String(rows),
    '-c',
    project,
    'env',
    '-i',
    ...variables,
    '/bin/sh',
  );
  tmux('send-keys', '-l', `scratchfs() { ${program} "$@"; }; clear`);
  tmux('send-keys', 'Enter');
  await settled();
  for (const command of commands) {
    const before = screenNow();
    if (typeof command === 'string') tmux('send-keys', '-l', command);
    tmux('send-keys', typeof command === 'string' ? 'Enter' : command.key);
    await settled(before);
  }
  const screen = tmux('capture-pane', '-p', '-e');
  tmux('kill-server');
  return screen
    .trimEnd()
    .replace(/\s*\$$/, '')
    .split('\n');
}

const toXml = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Returns a line with escape sequences as parts with colours. */
function parts(line) {
  let style = {};
  const found = [];
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal's escape sequences
  for (const [, codes, text] of `\u001b[m${line}`.matchAll(/\u001b\[([\d;]*)m([^\u001b]*)/g)) {
    for (const code of codes.split(';').map(Number)) {
      if (code === 0) style = {};
      else if (code === 1) style = { ...style, bold: true };
      else if (code === 2) style = { ...style, dim: true };
      else if (code === 39) style = { ...style, color: undefined };
      else if (code in COLORS) style = { ...style, color: COLORS[code] };
    }
    if (text !== '') found.push({ ...style, text });
  }
  return found;
}

function svg(lines, title) {
  const width = Math.ceil(COLUMNS * CELL.width + 32);
  const height = lines.length * CELL.height + 32;
  const rows = lines.map((line, row) => {
    let column = 0;
    return parts(line)
      .map(({ text, color = TEXT, bold, dim }) => {
        const x = 16 + column * CELL.width;
        column += [...text].length;
        const weight = bold ? ' font-weight="bold"' : '';
        return `<text x="${x.toFixed(1)}" y="${30 + row * CELL.height}" fill="${dim ? '#6e7781' : color}"${weight}>${toXml(text)}</text>`;
      })
      .join('');
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
<title>${title}</title>
<rect width="100%" height="100%" rx="8" fill="${PAPER}"/>
<g font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14" xml:space="preserve">
${rows.join('\n')}
</g>
</svg>
`;
}

const isCheck = process.argv.includes('--check');

/**
 * Returns a picture without what differs between two runs: times, the attempt's name, and places of what follows it.
 */
function lasting(picture) {
  return picture
    .replace(/ x="[\d.]+"/g, '')
    .replace(/\d\d:\d\d:\d\d/g, 'TIME')
    .replace(/TIME, [\d.,]+ m?s\b/g, 'TIME, SPAN')
    .replace(/( of (?:<[^>]*>)*)[a-z]+-[a-z]+/g, '$1NAME');
}

try {
  prepare();
  for (const [name, commands] of Object.entries(PICTURES)) {
    const lines = await capture(commands, ROWS_OF[name] ?? ROWS);
    const file = join(root, '.github', `${name}.svg`);
    const shown = lines.map((line) => line.replaceAll(home, '~'));
    const picture = svg(shown, `A terminal after ${commands[0]}`);
    if (!isCheck) {
      writeFileSync(file, picture);
      console.log(`${name}.svg: ${lines.length} lines`);
    } else if (lasting(readFileSync(file, 'utf8')) !== lasting(picture)) {
      process.exitCode = 1;
      console.error(`${name}.svg is not what the program prints now:\n${shown.join('\n')}`);
    }
  }
} finally {
  spawnSync('tmux', ['-S', socket, 'kill-server']);
  rmSync(home, { recursive: true, force: true });
}
