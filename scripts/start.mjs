// `npm start`: installs, builds, shows that it works and how to plug it into an agent.
import { fileURLToPath } from 'node:url';
import { installPackages, installPrograms, step } from './set-up.mjs';

const cli = fileURLToPath(new URL('../dist/cli.js', import.meta.url));
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
step('A first command', process.execPath, [
  cli,
  'run',
  'echo "Hello from $(basename "$BASH") $BASH_VERSION"',
]);
console.log(
  `\nnacre works. For your agent, paste this into its MCP configuration:\n\n${JSON.stringify(snippet, null, 2)}\n`,
);
