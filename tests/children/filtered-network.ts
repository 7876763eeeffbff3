// Runs a sandboxed command with `networkAllow` as an ordinary user.
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTalker } from 'node:net';
import { join } from 'node:path';
import { becomeOrdinaryUser } from '../support/ordinary-user.ts';
import { createTestWorker } from '../support/worker.ts';
import { report } from './report.ts';

becomeOrdinaryUser();
const web = createServer((_asked, answer) => answer.end('hello\n'));
await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
const { port } = web.address() as AddressInfo;
const here = createTestWorker({
  highestLevel: 'namespace',
  supervisionRequire: 'namespace',
  sandbox: 'strict',
  networkAllow: [`allowed.localhost:${port}`],
});
const project = join(here.folder, 'project');
mkdirSync(project);
const talker = createTalker((socket) => socket.end('leak'));
await new Promise<void>((resolve) => talker.listen(join(project, 'own.sock'), resolve));
const { stdout, state } = await here.run(
  `curl -s http://allowed.localhost:${port}/; curl -s http://denied.localhost:${port}/ > /dev/null; curl -s --unix-socket own.sock http://x/; echo $?; set -- /proc/[0-9]*; echo $#`,
  { cwd: project },
);
report({
  uid: process.getuid?.(),
  stdout,
  network: state.enforcement?.network,
  denied: state.end?.deniedHosts.map((host) => host.replace(String(port), 'PORT')),
});
await here.close();
talker.close();
web.closeAllConnections();
web.close();
