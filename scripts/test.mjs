// `npm test [-- --coverage]`: installs what is missing, then runs all checks.
// `npm run test:soak [-- --share=0.25]`: runs the random and load tests with their full counts, or a share of them.
import { readFileSync } from 'node:fs';
import { checkImage } from './check-image.mjs';
import { findSoakTests } from './find-soak-tests.mjs';
import { checkMachine, installPackages, step } from './set-up.mjs';
import { installTestPrograms } from './test-programs.mjs';

const tool = (name) => `node_modules/.bin/${name}`;
const results = 'node_modules/.cache/test-results.json';
const isSoak = process.argv.includes('--soak');
const share = process.argv.find((word) => word.startsWith('--share='))?.slice('--share='.length) ?? '1';
const isCoverage = process.argv.includes('--coverage');

checkMachine();
const missing = await installTestPrograms();
await installPackages();
if (!isSoak) await checkCode();
await runTests(isSoak ? findSoakTests() : [], isSoak ? { NACRE_SOAK: share } : {});

async function checkCode() {
  await step('Formatting and lint', tool('biome'), ['ci', '.']);
  await step('Types', tool('tsc'), ['-p', 'tsconfig.json']);
  await step('Types without Node', tool('tsc'), ['-p', 'tsconfig.pure.json']);
  await step('Types of the console', tool('tsc'), ['-p', 'tsconfig.console.json']);
  await step('Build', process.execPath, ['scripts/build.mjs']);
  await step('Unused code and dependencies', tool('knip'), []);
  await step('Package', tool('publint'), ['--strict']);
  await checkImage();
}

async function runTests(files, env) {
  const reporters = ['default', './tests/support/skip-reporter.ts', 'json'].map(
    (name) => `--reporter=${name}`,
  );
  await step(
    isSoak ? 'Soak tests' : 'Tests',
    tool('vitest'),
    ['run', ...files, ...(isCoverage ? ['--coverage'] : []), ...reporters, `--outputFile.json=${results}`],
    { env: { ...process.env, ...env } },
  );
  const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(results, 'utf8'));
  if (missing.length > 0) console.log(`\nTo run the skipped tests, install: ${missing.join(' ')}`);
  console.log(`\n${numPassedTests} passed, ${numFailedTests} failed`);
}
