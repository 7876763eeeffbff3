// Other MCP shell servers from npm, for benchmarks that compare nacre with them.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const packages = ['execa@9.6.1', 'mcp-server-commands@0.5.0', '@mako10k/mcp-shell-server@2.7.1'];
const modules = resolve('node_modules/.cache/nacre-peers');

/** An MCP server that runs commands. */
export interface Peer {
  readonly name: string;
  /** Starts it and connects to it. */
  connect(): Promise<PeerClient>;
}

/** A connection to a peer. */
export interface PeerClient {
  /** The characters of the tool list that a model reads: names, descriptions and input schemas. */
  listedChars(): Promise<number>;
  /** Runs a command and returns the text that a model reads. */
  run(command: string): Promise<string>;
  close(): Promise<void>;
}

/** Installs the peers from npm, once, and returns them with nacre as the last one. */
export function installPeers(): readonly Peer[] {
  if (!existsSync(join(modules, 'node_modules/execa'))) install();
  return [
    {
      name: 'mcp-server-commands',
      connect: () => connect(inModules('mcp-server-commands/build/index.js'), 'run_command', {}),
    },
    {
      name: '@mako10k/mcp-shell-server',
      // Without these variables it asks a model about each command.
      connect: () =>
        connect(inModules('@mako10k/mcp-shell-server/dist/index.js'), 'shell_execute', {
          MCP_SHELL_SECURITY_MODE: 'permissive',
          MCP_SHELL_LLM_EVALUATION: 'false',
          MCP_SHELL_ENHANCED_MODE: 'false',
        }),
    },
    {
      name: 'nacre',
      connect: () => connect([resolve('dist/cli.js'), 'mcp'], 'execute_command', { ALLOWED_COMMANDS: '*' }),
    },
  ];
}

/** The path of a module that `installPeers` has installed. */
export function peerModule(path: string): string {
  return join(modules, 'node_modules', path);
}

function inModules(path: string): [string] {
  return [peerModule(path)];
}

// node-pty has no binary for Linux, so it is compiled here; all other scripts stay off.
function install(): void {
  mkdirSync(modules, { recursive: true });
  const flags = ['--no-audit', '--no-fund', '--prefix', modules];
  const steps = [
    ['install', '--ignore-scripts', ...flags, ...packages],
    ['rebuild', ...flags, 'node-pty'],
  ];
  for (const args of steps)
    if (spawnSync('npm', args, { stdio: ['ignore', 'ignore', 'inherit'] }).status !== 0)
      throw new Error(`npm ${args[0]} failed; the benchmark needs npm's registry and a C++ compiler.`);
}

async function connect(args: string[], tool: string, env: Record<string, string>): Promise<PeerClient> {
  const home = mkdtempSync(join(tmpdir(), 'nacre-peer-'));
  // nacre sends text alone to clients that are known to pass it on, as Claude Code does.
  const client = new Client({ name: 'claude-code', version: '2' });
  const environment = { PATH: process.env.PATH ?? '', HOME: home, ...env };
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, env: environment, stderr: 'ignore' }),
  );
  return {
    async listedChars() {
      const { tools } = await client.listTools();
      const read = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
      return JSON.stringify(read).length;
    },
    async run(command) {
      const { content } = await client.callTool({ name: tool, arguments: { command } });
      return content.map((part) => ('text' in part ? part.text : '')).join('');
    },
    async close() {
      await client.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
