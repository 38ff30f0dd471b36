import { install } from './install.mjs';
import { runSteps } from './runner.mjs';
import { steps } from './steps.mjs';

await install();
// Two at a time: most steps use one core.
process.exit(
  await runSteps(
    steps.filter((step) => step.check),
    { totals: false, lanes: 2 },
  ),
);
