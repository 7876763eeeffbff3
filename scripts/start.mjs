// `npm start`: installs dependencies, builds, prints how to configure an agent, and runs `nacre serve` until interrupted.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { installPackages, installPrograms, step } from './set-up.mjs';

const cli = fileURLToPath(new URL('../dist/cli.js', import.meta.url));
const applets = fileURLToPath(new URL('../dist/applets', import.meta.url));
const snippet = {
  mcpServers: {
    nacre: {
      command: 'node',
      args: [cli, 'mcp'],
      env: { ALLOWED_COMMANDS: 'git,ls,cat,head,tail,grep,find,wc,npm,node', NACRE_SANDBOX: 'workspace' },
    },
  },
};

installPrograms();
installPackages();
step('Building', process.execPath, ['scripts/build.mjs']);
console.log(
  `\nFor an agent that starts nacre itself:\n${JSON.stringify(snippet, null, 2)}\nor let nacre write it: node ${cli} init claude-code\n`,
);
const server = spawn(process.execPath, [cli, 'serve', '--applets-dir', applets, ...process.argv.slice(2)], {
  stdio: 'inherit',
});
// Ctrl-C sends SIGINT to both processes; this one exits when the server has.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => server.kill(signal));
server.on('exit', (code) => process.exit(code ?? 1));
