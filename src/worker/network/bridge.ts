import type { ChildProcess } from 'node:child_process';
import { Server } from 'node:net';
import { quote } from '../../support/quote.ts';
import type { Environment } from '../machine/environment.ts';
import { namesHost } from './host-rules.ts';
import type { NetworkProxy } from './network-proxy.ts';

// Each network namespace has its own ports, so a fixed one is always free and can be set in the shell's environment.
/** The port of the proxy in a filtered network. */
export const proxyPort = 3128;
const node = '/run/nacre/node';

/** Node's executable, and where a filtered sandbox shows it to run `bridgeScript`. */
export const bridgeProgram = { from: process.execPath, to: node } as const;

/**
 * Variables such as `http_proxy` that make ordinary programs use the proxy, except for servers that other commands have
 * started on loopback. A loopback name in `networkAllow` is meant to reach the machine, and only the proxy does.
 */
export function toProxyEnvironment(networkAllow: readonly string[]): Environment {
  const direct = loopbackNames.filter((name) => !namesHost(networkAllow, name)).join(',');
  return { ...proxyVariables, no_proxy: direct, NO_PROXY: direct };
}

const loopbackNames = ['localhost', '127.0.0.1', '::1'];

const proxyVariables: Environment = {
  ...Object.fromEntries(
    ['http_proxy', 'https_proxy', 'all_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].map((name) => [
      name,
      `http://127.0.0.1:${proxyPort}`,
    ]),
  ),
  // Node.js 24 and newer honour `http_proxy` only with this variable.
  NODE_USE_ENV_PROXY: '1',
};

/**
 * Listens on the namespace's loopback, sends the listening socket and its pid to nacre through the IPC channel, and exits
 * as soon as nacre has them. The proxy then accepts connections from inside the namespace although no process of
 * nacre stays there, and a command cannot reach the proxy of another connection.
 */
export const sendListener = [
  "const server = require('node:net').createServer();",
  "const fail = (error) => { console.error('no proxy: ' + error.message); process.exit(1); };",
  "server.once('error', fail);",
  "process.once('disconnect', () => process.exit(0));",
  `server.listen(${proxyPort}, '127.0.0.1', () => process.send(process.pid, server));`,
].join('\n');

/** Variables that keep Node's options in the environment of commands from nacre's own Node processes. */
export const plainNode: Environment = { NODE_OPTIONS: '', NODE_V8_COVERAGE: '', NODE_NO_WARNINGS: '1' };

const plainNodeWords = Object.entries(plainNode)
  .map(([name, value]) => `${name}=${value}`)
  .join(' ');

/** Runs in the keeper before its shell waits; it also removes the IPC channel, so that no command inherits it. */
export const bridgeScript = [
  `${plainNodeWords} ${node} -e ${quote(sendListener)} < /dev/null > /dev/null || exit 125`,
  'unset NODE_CHANNEL_FD NODE_CHANNEL_SERIALIZATION_MODE',
  'exec 5>&-',
].join('\n');

/** Lets a proxy serve the listener that `bridgeScript` sends, until the sandbox exits. */
export function adoptListener(child: ChildProcess, proxy: NetworkProxy): void {
  child.once('message', (_message, handle) => {
    if (handle instanceof Server) proxy.serve(handle);
    child.disconnect();
  });
  child.once('exit', () => proxy.close());
}
