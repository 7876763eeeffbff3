// nacre compared with the alternatives: child_process and execa as libraries, two servers from npm over MCP. Contenders
// take turns in one run, and each row is printed as a multiple of the first contender.
import { exec, spawn } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { createBenchEngine, interleave, median, runIn } from './measure.ts';
import { installPeers, type PeerClient, peerModule } from './peers.ts';

type Contenders = Readonly<Record<string, () => Promise<unknown>>>;

const servers = installPeers();
const { execa } = await import(pathToFileURL(peerModule('execa/index.js')).href);
const { engine, close } = createBenchEngine();
const execute = promisify(exec);
const [large, maxBuffer] = ['seq 2600000', 1e9];

await row('a library runs true', 60, {
  child_process: () => execute('true', { shell: '/bin/bash' }),
  execa: () => execa({ shell: '/bin/bash' })`true`,
  nacre: () => runIn(engine, 'true'),
});
await row('a library runs 400 × true, 64 at once', 3, {
  child_process: () => atOnce(() => execute('true', { shell: '/bin/bash' })),
  execa: () => atOnce(() => execa({ shell: '/bin/bash' })`true`),
  nacre: () => atOnce(() => runIn(engine, 'true')),
});
await row('a library receives 20 MB', 5, {
  child_process: () => execute(large, { shell: '/bin/bash', maxBuffer }),
  execa: () => execa({ shell: '/bin/bash', maxBuffer })`${[large]}`,
  nacre: () => runIn(engine, large),
});
await close();

const started: PeerClient[] = [];
const starts = servers.map(({ name, connect }) => [
  name,
  async () => {
    const client = await connect();
    await client.listedChars();
    started.push(client);
  },
]);
await row('from the start of a server to its tool list', 5, {
  'node -e 0': () => new Promise((done) => spawn(process.execPath, ['-e', '0']).on('exit', done)),
  ...Object.fromEntries(starts),
});
await Promise.all(started.map((client) => client.close()));

const clients = await Promise.all(
  servers.map(async ({ name, connect }) => [name, await connect()] as [string, PeerClient]),
);
const calls = (command: string, count: number): Contenders =>
  Object.fromEntries(
    clients.map(([name, client]) => [
      name,
      () => Promise.all(Array.from({ length: count }, () => client.run(command))),
    ]),
  );
await row('an MCP call of true', 30, calls('true', 1));
await row('32 MCP calls of true at once', 3, calls('true', 32));
await Promise.all(clients.map(([, client]) => client.close()));

async function row(title: string, rounds: number, contenders: Contenders): Promise<void> {
  const times = await interleave(rounds, contenders, 10);
  const [base = Number.NaN] = Object.values(times).map(median);
  console.log(title);
  for (const [name, figures] of Object.entries(times)) {
    const ms = median(figures);
    console.log(`  ${name}: ${ms.toFixed(2)} ms, ${(ms / base).toFixed(2)} ×`);
  }
}

async function atOnce(run: () => Promise<unknown>): Promise<void> {
  let left = 400;
  const work = async () => {
    while (left > 0) {
      left -= 1;
      await run();
    }
  };
  await Promise.all(Array.from({ length: 64 }, work));
}
