import { basename, join } from 'node:path';
import { bin, root, run, seconds } from '../../.ci/lib.mjs';
import { groups } from './groups.mjs';

// npm run campaign -- tests/mutation [names of groups, or of one file of a group as in policy/area]
const wanted = process.argv.slice(2);
const chosen = wanted.length === 0 ? groups : wanted.flatMap(groupsOf);

/** Returns the whole group, or only the named file of it. */
function groupsOf(name) {
  const [groupName, fileName] = name.split('/');
  const group = groups.find((each) => each.name === groupName);
  const mutate = group?.mutate.filter((file) => fileName === undefined || basename(file, '.ts') === fileName) ?? [];
  if (mutate.length > 0) return [{ ...group, name, mutate }];
  console.error(
    `There is no ${name}. Groups: ${groups.map((each) => each.name).join(', ')}; group/file for one of its files.`,
  );
  return process.exit(1);
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
