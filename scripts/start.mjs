// `npm start`: installs npm packages, builds, prints the entry for an agent, and runs `nacre serve` until interrupted.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { buildIfChanged, checkMachine, installPackages, step } from './set-up.mjs';

const cli = fileURLToPath(new URL('../dist/cli.js', import.meta.url));
const applets = fileURLToPath(new URL('../dist/applets', import.meta.url));

checkMachine();
installPackages();
buildIfChanged();
step('The entry for an agent (node dist/cli.js init claude-code writes it for you)', process.execPath, [
  cli,
  'init',
  '--print',
]);
console.log();
const server = spawn(process.execPath, [cli, 'serve', '--applets-dir', applets, ...process.argv.slice(2)], {
  stdio: 'inherit',
});
// Ctrl-C sends SIGINT to both processes; this one exits when the server has.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => server.kill(signal));
server.on('exit', (code) => process.exit(code ?? 1));
