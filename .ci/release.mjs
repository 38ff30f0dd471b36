import { install } from './install.mjs';
import { pnpm, root, run } from './lib.mjs';

const USAGE = `npm run release -- prepare    turns the changesets into versions and changelogs; commit the result
npm run release -- publish    runs npm run check, then publishes every version that the registry does not have, and tags it

A change is described with \`npx changeset\`.`;

/** Ends the process if a command failed. */
async function must({ code }) {
  if (code !== 0) process.exit(code);
}

const [wanted] = process.argv.slice(2);
if (wanted !== 'prepare' && wanted !== 'publish') {
  console.log(USAGE);
  process.exit(wanted === undefined ? 0 : 1);
}
await install();
if (wanted === 'prepare') {
  await must(await pnpm(['exec', 'changeset', 'version']));
  await must(await pnpm(['install', '--lockfile-only', '--prefer-offline']));
  await must(await run('npx', ['biome', 'format', '--write', 'packages'], { cwd: root }));
} else {
  // Only what is committed is published.
  const { output } = await run('git', ['status', '--porcelain'], { quiet: true });
  if (output !== '') {
    console.error(`Commit first. Not committed:\n${output}`);
    process.exit(1);
  }
  await must(await run(process.execPath, ['.ci/check.mjs']));
  // Through pnpm, which replaces `workspace:` ranges and applies publishConfig.
  await must(await pnpm(['exec', 'changeset', 'publish']));
}
