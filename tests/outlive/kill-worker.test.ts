// NACRE_ROUNDS=100 npx vitest run tests/outlive/kill-worker.test.ts
import { expect, test } from 'vitest';
import { sleep } from '../../src/support/timing.ts';
import { needPrograms } from '../support/needs.ts';
import { createWriter, firstDifference, type Writer } from '../support/numbered-lines.ts';
import { createOutliveHome, type OutliveClient } from '../support/outlive.ts';
import { processesWith } from '../support/processes.ts';
import { soakCount } from '../support/soak.ts';

const rounds = Number(process.env.NACRE_ROUNDS ?? soakCount(10, 1));
const writerCount = 6;
const patient = { timeout: 60_000, interval: 50 };

test('everything of a killed worker is lost and nothing of it survives, and the next command runs', {
  timeout: 120_000 + rounds * 60_000,
}, async (context) => {
  needPrograms(context, 'perl');
  const home = createOutliveHome({ env: { NACRE_TOMBSTONE_SECONDS: '60' } });
  const client = await home.open();
  const counts: Record<string, number> = {};
  for (let round = 0; round < rounds; round += 1) {
    await client.call('Bash', { command: `round=${round}; sleep 7100 &` });
    const [worker] = home.workers();
    if (!worker) throw new Error('There is no worker.');
    const starts = startWriters(client, round);
    await sleep(Math.random() * 1_500);
    process.kill(worker.pid, 'SIGKILL');
    const killedAt = performance.now();
    for (const start of await starts) {
      const found = await checkWriter(client, start, killedAt);
      counts[found] = (counts[found] ?? 0) + 1;
    }
    const shell = await client.call('Bash', { command: 'echo "round $round, $(jobs | wc -l) jobs"' });
    expect(shell).toContain('round , 0 jobs');
    const next = await client.call('start_command', { command: 'echo next', name: `next-${round}` });
    expect(next).toContain('next');
  }
  await client.leave();
  await home.nacre('shutdown');
  await expect.poll(() => home.processes(), patient).toEqual([]);
  expect(await home.nacre('audit', 'verify')).toContain('Intact');
  if (process.env.NACRE_ROUNDS) console.log(JSON.stringify({ rounds, ...counts }));
});

test('a persistent shell whose worker was killed starts again in its directory, and the reply says what is lost', {
  timeout: 60_000,
}, async (context) => {
  needPrograms(context, 'perl');
  const home = createOutliveHome();
  const client = await home.open();
  expect(await client.call('Bash', { command: 'mkdir -p sub; cd sub; kept=no; pwd' })).toMatch(/\/sub\n$/);
  process.kill(home.workers()[0]?.pid ?? 0, 'SIGKILL');
  const next = await client.call('Bash', { command: 'basename "$PWD"; echo "kept: $kept."' });
  expect(next).toContain('sub\nkept: .\n');
  expect(next).toContain("The session's shell is gone");
  expect(await client.call('Bash', { command: 'basename "$PWD"' })).toBe('sub\n');
  await client.leave();
  await home.nacre('shutdown');
  await expect.poll(() => home.processes(), patient).toEqual([]);
});

interface Start {
  readonly writer: Writer;
  readonly askedAt: number;
  readonly answeredAt: number;
  readonly reply: string;
}

async function startWriters(client: OutliveClient, round: number): Promise<readonly Start[]> {
  const starts: Start[] = [];
  for (let index = 0; index < writerCount; index += 1) {
    const name = `writer-${round}-${index}.`;
    const bytesPerSecond = 1_000 * 8 ** index;
    const seconds = index === 0 ? 0.3 : 1_000;
    const writer = createWriter(name, { bytesPerSecond, seconds, maxBytes: 200_000_000, exitCode: 9 });
    const askedAt = performance.now();
    const reply = await client.call('start_command', { command: writer.command, name, wait_ms: 0 });
    starts.push({ writer, askedAt, answeredAt: performance.now(), reply });
  }
  return starts;
}

/** Checks that a command is lost, unless it had ended before the kill or was started after it. */
async function checkWriter(client: OutliveClient, start: Start, killedAt: number): Promise<string> {
  const { writer, askedAt, answeredAt, reply } = start;
  const { name } = writer;
  if (!reply.includes(`name: "${name}"`)) {
    expect(answeredAt, reply).toBeGreaterThan(killedAt);
    expect(processesWith(name)).toEqual([]);
    return 'refused';
  }
  const query = { command_id: name, cursor: 0, wait_ms: 0, view: 'raw', max_output_chars: 200_000 };
  const read = async () => (await client.use('read_output', query)).structured;
  if (answeredAt > killedAt && (await read()).status === 'running') {
    expect(await client.call('stop_command', { command_id: name })).toContain('killed');
    return 'started in the next worker';
  }
  expect(askedAt, 'a command of the next worker must run').toBeLessThan(killedAt + 100);
  await expect.poll(async () => (await read()).status, patient).not.toMatch(/running|unreachable/);
  const { status, exit_code, stdout, left_out_from } = await read();
  if (left_out_from === undefined) expect(firstDifference(writer, 0, String(stdout))).toBeUndefined();
  expect([status, exit_code]).toEqual(status === 'failed' ? ['failed', 9] : ['lost', null]);
  await expect.poll(() => processesWith(name), patient).toEqual([]);
  return String(status);
}
