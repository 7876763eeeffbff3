// Each contender runs a bash script and returns a short description of what its caller gets.
import { exec } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

/** Creates all contenders; `modules` is the folder where the other tools were installed. */
export async function createContenders(modules) {
  const { execa } = await import(pathToFileURL(join(modules, 'node_modules/execa/index.js')).href);
  const none = async () => {};
  const server = await connect([join(modules, 'node_modules/mcp-server-commands/build/index.js')]);
  const nacre = await connect([resolve('dist/cli.js'), 'mcp'], {
    ALLOWED_COMMANDS: '*',
    XDG_STATE_HOME: modules,
  });
  return [
    { name: '`child_process.exec`', run: runWithExec, close: none },
    { name: '`execa`', run: (script, timeout) => runWithExeca(execa, script, timeout), close: none },
    {
      name: '`mcp-server-commands`',
      run: (script) => call(server, 'run_command', { command: script }),
      close: () => server.close(),
    },
    {
      name: 'nacre',
      run: (script, timeout) =>
        call(nacre, 'execute_command', { command: script, ...(timeout && { timeout_ms: timeout }) }),
      close: () => nacre.close(),
    },
  ];
}

/** The names and versions of all contenders. */
export function versions(modules) {
  const version = (path) => JSON.parse(readFileSync(path, 'utf8')).version;
  const others = ['execa', 'mcp-server-commands'].map(
    (name) => `${name} ${version(join(modules, 'node_modules', name, 'package.json'))}`,
  );
  return [...others, `nacre ${version('package.json')}`].join(', ');
}

function runWithExec(script, timeout) {
  return new Promise((done) => {
    exec(script, { shell: '/bin/bash', ...(timeout && { timeout }) }, (error, stdout, stderr) => {
      const why = error && `${error.code ?? 'no code'}${error.signal ? `, ${error.signal}` : ''}`;
      done(describe(stdout, stderr, error ? `error: ${why}` : 'no error'));
    });
  });
}

async function runWithExeca(execa, script, timeout) {
  const result = await execa({ shell: '/bin/bash', reject: false, ...(timeout && { timeout }) })`${script}`;
  const { stdout, stderr, exitCode, timedOut, isMaxBuffer } = result;
  const state = timedOut ? 'timedOut' : isMaxBuffer ? 'isMaxBuffer' : `exitCode ${exitCode}`;
  return describe(stdout, stderr, state);
}

async function connect(args, env = {}) {
  const client = new Client({ name: 'compare', version: '1' });
  const all = { PATH: process.env.PATH, HOME: process.env.HOME, ...env };
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, env: all, stderr: 'ignore' }),
  );
  return client;
}

async function call(client, name, input) {
  const {
    content,
    structuredContent: data,
    isError,
  } = await client.callTool({ name, arguments: input }, { timeout: 60_000 });
  if (data === undefined) {
    const text = content.map(({ text: piece }) => piece).join('');
    return `${text.length} characters of text${isError ? ', isError' : ''}`;
  }
  const more = ['left_running', 'error', 'truncated'].flatMap((key) =>
    data[key] ? [`${key}: ${shorten(data[key])}`] : [],
  );
  return describe(data.stdout, data.stderr, [`exit_code ${data.exit_code}`, ...more].join(', '));
}

function shorten(value) {
  return String(value)
    .replace(/7\d{3}\.\d+/g, 'N')
    .replace(/pid \d+/g, 'pid N')
    .slice(0, 80);
}

function describe(stdout, stderr, state) {
  return `stdout ${stdout.length}, stderr ${stderr.length} characters; ${state}`;
}
