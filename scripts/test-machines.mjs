// `npm run test:machines`: installs what is missing, then runs commands on real ssh machines, containers and a cluster.
import { checkMachine, installPackages, step } from './set-up.mjs';
import { installTestPrograms, machinePrograms } from './test-programs.mjs';

checkMachine();
const missing = await installTestPrograms(machinePrograms);
await installPackages();
await step('Tests of other machines', 'node_modules/.bin/vitest', [
  'run',
  '--config',
  'tests/machines/vitest.config.ts',
  ...process.argv.slice(2),
]);
if (missing.length > 0) console.log(`\nTo run the skipped tests, install: ${missing.join(' ')}`);
