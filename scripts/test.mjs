// `npm test [-- --coverage]`: installs what is missing, then runs all checks.
// `npm run test:soak`: runs the random and load tests with their full counts.
import { readFileSync } from 'node:fs';
import { checkImage } from './check-image.mjs';
import { findSoakTests } from './find-soak-tests.mjs';
import { checkMachine, installPackages, step } from './set-up.mjs';
import { installTestPrograms } from './test-programs.mjs';

const tool = (name) => `node_modules/.bin/${name}`;
const results = 'node_modules/.cache/test-results.json';
const isSoak = process.argv.includes('--soak');
const isCoverage = process.argv.includes('--coverage');

checkMachine();
const missing = installTestPrograms();
installPackages();
if (!isSoak) checkCode();
runTests(isSoak ? findSoakTests() : [], isSoak ? { NACRE_SOAK: '1' } : {});

function checkCode() {
  step('Formatting and lint', tool('biome'), ['ci', '.']);
  step('Types', tool('tsc'), ['-p', 'tsconfig.json']);
  step('Types without Node', tool('tsc'), ['-p', 'tsconfig.pure.json']);
  step('Build', process.execPath, ['scripts/build.mjs']);
  step('Unused code and dependencies', tool('knip'), []);
  step('Package', tool('publint'), ['--strict']);
  checkImage();
}

function runTests(files, env) {
  const reporters = ['default', './tests/support/skip-reporter.ts', 'json'].map(
    (name) => `--reporter=${name}`,
  );
  step(
    isSoak ? 'Soak tests' : 'Tests',
    tool('vitest'),
    ['run', ...files, ...(isCoverage ? ['--coverage'] : []), ...reporters, `--outputFile.json=${results}`],
    { env: { ...process.env, ...env } },
  );
  const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(results, 'utf8'));
  if (missing.length > 0) console.log(`\nTo run the skipped tests, install: ${missing.join(' ')}`);
  console.log(`\n${numPassedTests} passed, ${numFailedTests} failed`);
}
