import { join } from 'node:path';
import { bin, root, run, seconds } from '../../.ci/lib.mjs';
import { groups } from './groups.mjs';

// npm run test:mutation [names of groups]
const wanted = process.argv.slice(2);
const chosen = groups.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
if (chosen.length === 0) {
  console.error(`Groups: ${groups.map(({ name }) => name).join(', ')}.`);
  process.exit(1);
}

let failed = 0;
for (const { name, mutate, tests, percent } of chosen) {
  const started = performance.now();
  const args = ['run', 'test/mutation/stryker.config.mjs', '--mutate', mutate.join(',')];
  const { code, output } = await run(bin('stryker', join(root, 'test', 'mutation')), args, {
    env: { MUTATION_TESTS: tests.join(',') },
    quiet: true,
  });
  const score = /^All files\s*\|\s*([\d.]+)/m.exec(output)?.[1];
  const isGood = code === 0 && Number(score) >= percent;
  if (!isGood) console.log(output);
  console.log(`${name}: ${score ?? 'no score'} of 100 changes noticed, ${percent} are asked for, ${seconds(started)}`);
  failed += isGood ? 0 : 1;
}
process.exit(failed === 0 ? 0 : 1);
