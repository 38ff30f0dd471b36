import { install } from './install.mjs';
import { runSteps } from './runner.mjs';
import { steps } from './steps.mjs';

// `npm test -- runtimes structure` runs the steps whose names start with these words.
const wanted = process.argv.slice(2);
const named = steps.filter(({ name }) => wanted.length === 0 || wanted.some((word) => name.startsWith(word)));
const chosen = steps.filter((step) => named.includes(step) || named.some(({ needs }) => needs?.includes(step.name)));
if (chosen.length === 0) {
  console.error(`No step is called ${wanted.join(' or ')}. Steps: ${steps.map(({ name }) => name).join(', ')}.`);
  process.exit(1);
}

await install();
// Two at a time: the steps with servers mostly wait. One step asked for by name shows its output while it runs.
process.exit(await runSteps(chosen, { totals: true, lanes: named.length > 1 ? 2 : 1 }));
