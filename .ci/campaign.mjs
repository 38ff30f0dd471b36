import { campaigns } from './campaigns.mjs';
import { install } from './install.mjs';
import { bin, run, seconds } from './lib.mjs';

const USAGE = `npm run campaign -- <campaign> [share] [first seed]

  <campaign>    a name below, a part before its / (redis) or the part after it (limits), or all
  share         the part of the campaign to run: 1 (default) is a release, 0.1 a tenth
  first seed    of the random cases, for those that draw them

Minutes are CPU time of the whole campaign; ? was not measured.
`;

const [wanted, ...rest] = process.argv.slice(2);
if (wanted === undefined) {
  const width = Math.max(...campaigns.map(({ name }) => name.length));
  const rows = campaigns.map(
    ({ name, minutes, proves }) => `  ${name.padEnd(width)}  ${`${minutes ?? '?'} min`.padStart(7)}  ${proves}`,
  );
  console.log(`${USAGE}\n${rows.join('\n')}`);
  process.exit(0);
}

const chosen = campaigns.filter(({ name }) => wanted === 'all' || [name, ...name.split('/')].includes(wanted));
if (chosen.length === 0) {
  console.error(`No campaign is called ${wanted}. Without an argument \`npm run campaign\` lists them.`);
  process.exit(1);
}
// The arguments of mutation are names, not a share and a seed.
const takesNames = chosen.every(({ name }) => name === 'tests/mutation');
const [share = '1', seed] = takesNames ? [] : rest;
if (!(Number(share) > 0) || (seed !== undefined && !Number.isSafeInteger(Number(seed)))) {
  console.error(`The share must be a number above 0 and the first seed a whole number, not ${rest.join(' ')}.`);
  process.exit(1);
}

await install();
let failed = 0;
for (const { name, run: commandOf } of chosen) {
  const started = performance.now();
  const { command, env } = commandOf({ share: Number(share), seed, rest });
  const [tool, ...args] = command;
  console.log(`\n${name}`);
  const { code, cpu } = await run(tool === 'node' ? process.execPath : bin(tool), args, { env });
  if (code !== 0) failed += 1;
  const time = `${seconds(started)}${cpu === undefined ? '' : `, ${cpu.toFixed(1)} s of CPU`}`;
  console.log(`${name}: ${code === 0 ? 'ok' : `FAILED (exit code ${code})`}, ${time}`);
}
process.exit(failed === 0 ? 0 : 1);
