// `npm start`: installs npm packages, builds, prints the entry for an agent, and runs `nacre serve` until interrupted.
import { fileURLToPath } from 'node:url';
import { installBuildPackages } from './build-packages.mjs';
import { buildIfChanged, checkMachine, runForeground, step } from './set-up.mjs';

const cli = fileURLToPath(new URL('../dist/cli.js', import.meta.url));
const applets = fileURLToPath(new URL('../dist/applets', import.meta.url));
const nacre = (...args) => [process.execPath, [cli, ...args]];

checkMachine();
await installBuildPackages();
await buildIfChanged();
await step(
  'The entry for an agent; node dist/cli.js init claude-code would write it',
  ...nacre('init', '--print'),
);
console.log();
const { status } = await runForeground(...nacre('serve', '--applets-dir', applets, ...process.argv.slice(2)));
process.exit(status ?? 1);
