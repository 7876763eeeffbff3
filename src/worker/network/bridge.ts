import type { ChildProcess } from 'node:child_process';
import { Server } from 'node:net';
import { quote } from '../../support/quote.ts';
import type { Environment } from '../machine/environment.ts';
import type { NetworkProxy } from './network-proxy.ts';

// A network namespace has ports of its own: one that is always the same can be named before the shell is started.
const port = 3128;
const node = '/run/nacre/node';

/** Node's executable, and where a filtered sandbox shows it to run `bridgeScript`. */
export const bridgeProgram = { from: process.execPath, to: node } as const;

/** Leads ordinary programs to the proxy. */
export const proxyEnvironment: Environment = {
  ...Object.fromEntries(
    ['http_proxy', 'https_proxy', 'all_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].map((name) => [
      name,
      `http://127.0.0.1:${port}`,
    ]),
  ),
  no_proxy: '',
  NO_PROXY: '',
  // Newer versions of Node.js do not look at the others without it.
  NODE_USE_ENV_PROXY: '1',
};

/**
 * Opens a port on the namespace's own loopback, hands its listening socket out to us through descriptor 5 and ends as
 * soon as we have it. So the proxy itself answers inside the namespace: no process of ours stays there, no path leads
 * to the proxy, and a command cannot reach another one's.
 */
const handOver = [
  "const server = require('node:net').createServer();",
  "const giveUp = (error) => { console.error('no proxy: ' + error.message); process.exit(1); };",
  "server.once('error', giveUp);",
  "process.once('disconnect', () => process.exit(0));",
  `server.listen(${port}, '127.0.0.1', () => process.send('listening', server));`,
].join('\n');

/** What the keeper does before its shell waits; it also forgets the channel, so that no command finds it. */
export const bridgeScript = [
  `NODE_OPTIONS= NODE_V8_COVERAGE= NODE_NO_WARNINGS=1 ${node} -e ${quote(handOver)} < /dev/null > /dev/null || exit 125`,
  'unset NODE_CHANNEL_FD NODE_CHANNEL_SERIALIZATION_MODE',
  'exec 5>&-',
].join('\n');

/** Lets a proxy answer on the socket that a starting sandbox hands out, as long as the sandbox lives. */
export function takeOver(child: ChildProcess, proxy: NetworkProxy): void {
  child.once('message', (_word, handle) => {
    if (handle instanceof Server) proxy.serve(handle);
    child.disconnect();
  });
  child.once('exit', () => proxy.close());
}
