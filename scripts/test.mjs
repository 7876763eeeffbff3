// `npm test`: installs what is missing, then runs all checks.
import { readFileSync } from 'node:fs';
import { checkImage } from './check-image.mjs';
import { installPackages, installPrograms, step } from './set-up.mjs';

const tool = (name) => `node_modules/.bin/${name}`;
const results = 'coverage/results.json';

installPrograms();
installPackages();
step('Formatting and lint', tool('biome'), ['ci', '.']);
step('Types', tool('tsc'), ['-p', 'tsconfig.json']);
step('Types without Node', tool('tsc'), ['-p', 'tsconfig.pure.json']);
step('Build', process.execPath, ['scripts/build.mjs']);
step('Unused code and dependencies', tool('knip'), []);
step('Package', tool('publint'), ['--strict']);
checkImage();
step('Tests', tool('vitest'), [
  'run',
  '--coverage',
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${results}`,
]);
const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(results, 'utf8'));
console.log(`\n${numPassedTests} passed, ${numFailedTests} failed`);
