import { changesCommands } from './cli/changes-commands.ts';
import { pastCommands } from './cli/past-commands.ts';
import { runCommands } from './cli/run-commands.ts';
import { setUpCommands } from './cli/set-up-commands.ts';
import { controlCommands, uninstallCommand } from './control/control-commands.ts';
import { defineDoor } from './define-door.ts';
import type { DoorGroup } from './door.ts';
import { switchFlag } from './flag-kinds.ts';
import { mcpFlags } from './mcp/flags.ts';

const serveCommands: DoorGroup = {
  mcp: defineDoor({
    summary: 'Serve MCP over stdin and stdout, for agents.',
    usage: '',
    examples: [
      [
        'nacre mcp --preset dev-node',
        'Serve the tools of a Node.js project; agents start this themselves (nacre init).',
      ],
      ['nacre mcp --allow git,ls --cwd ~/app', 'Serve two programs in one directory.'],
    ],
    flags: mcpFlags,
    remoteCallers: ['model'],
    workingDir: ({ cwd }) => cwd,
    load: async () => (await import('./mcp/serve.ts')).mcpDoor,
  }),
  serve: defineDoor({
    summary: 'Serve HTTP on one address, for apps, web pages and agents.',
    usage: '',
    examples: [
      ['nacre serve --preset dev-node', 'Serve on 127.0.0.1 and print the address and a token.'],
      [
        'nacre serve --port 8080 --json',
        'Serve on another port, and print one line of JSON for a program that starts it.',
      ],
    ],
    flags: { json: switchFlag('--json', 'Print the address and the token as one line of JSON.') },
    remoteCallers: ['model', 'app'],
    prepare: async (deps) => (await import('./cli/choose-preset.ts')).choosePreset(deps),
    // Agents can also call over HTTP. Doors do not import one another, so the catalog passes the MCP server to the HTTP
    // door.
    async load() {
      const [{ serve }, { createServer }, { watchResources }] = await Promise.all([
        import('./http/serve.ts'),
        import('./mcp/create-server.ts'),
        import('./mcp/resources.ts'),
      ]);
      return (deps) => serve(deps, { createServer, watchResources });
    },
  }),
  applet: defineDoor({
    summary: 'Create a small web page that may run listed programs.',
    usage: 'new NAME',
    examples: [
      ['nacre applet new disk-usage', 'Create applets/disk-usage, which works as it is.'],
      ['nacre applet new disk-usage --applets-dir ~/applets', 'Create it in another folder.'],
    ],
    flags: {},
    load: async () => (await import('./http/new-applet.ts')).appletDoor,
  }),
};

/** Every door, under the headings of `nacre --help`. */
export const doorGroups: Readonly<Record<string, DoorGroup>> = {
  'Serve agents and apps': serveCommands,
  'Run commands': runCommands,
  'See and undo changes': changesCommands,
  'Watch and control servers': controlCommands,
  'Look back': pastCommands,
  'Set up': { ...setUpCommands, ...uninstallCommand },
};

/** Every door, by the subcommand that opens it. */
export const doors: DoorGroup = Object.assign({}, ...Object.values(doorGroups));

/** Loads the control socket, through which `nacre ps` and others reach a running server. */
export const loadControl = () => import('./control/serve-control.ts');
