// Commands outlive their server where the kernel supports less: without user namespaces, as in many containers.
import { beforeEach, expect, test } from 'vitest';
import { needLevel, needPrograms } from '../support/needs.ts';
import { createOutliveHome, type OutliveHome } from '../support/outlive.ts';
import { withoutNamespaces } from '../support/without-namespaces.ts';

const slow = { timeout: 180_000 };
const patient = { timeout: 60_000, interval: 100 };

beforeEach(async (context) => {
  await needLevel(context, 'unshare');
  needPrograms(context, 'setpriv', 'unshare');
});

async function startAndKill(home: OutliveHome): Promise<void> {
  const first = await home.open();
  const script = 'echo begun; (trap "" TERM; setsid sleep 7601) & read x; echo "got $x"; exit 8';
  const started = await first.use('start_command', { command: script, name: 'kept', wait_for: 'begun' });
  expect(started.structured).toMatchObject({ stdout: 'begun\n' });
  await first.call('Bash', { command: 'cd /usr; value=42; sleep 7602 &' });
  await first.kill();
}

test('without user namespaces, commands and shells outlive their server', slow, async () => {
  const home = createOutliveHome({ within: withoutNamespaces });
  await startAndKill(home);
  const next = await home.open();
  expect(await next.call('list_commands', {})).toMatch(/"kept".*running/);
  expect(await next.call('Bash', { command: 'pwd; echo "value $value"; jobs -r | wc -l' })).toContain(
    '/usr\nvalue 42\n1',
  );
  await next.call('write_input', { command_id: 'kept', text: 'hello', keys: ['Enter'] });
  const read = async () => (await next.use('read_output', { command_id: 'kept', cursor: 0 })).structured;
  await expect.poll(read, patient).toMatchObject({ stdout: 'begun\ngot hello\n', exit_code: 8 });
  await next.kill();
  expect(await home.nacre('shutdown')).toContain('Ended the worker');
  await expect.poll(() => home.processes(), patient).toEqual([]);
  expect(await home.nacre('audit', 'verify')).toContain('Intact');
});

test(
  'without user namespaces, nothing outlives a killed worker once the next one has started',
  slow,
  async () => {
    const home = createOutliveHome({ within: withoutNamespaces });
    await startAndKill(home);
    const [worker] = home.workers();
    process.kill(worker?.pid ?? 0, 'SIGKILL');
    const next = await home.open();
    expect(await next.call('list_commands', {})).toMatch(/"kept".*lost/);
    expect(await next.call('start_command', { command: 'echo next', name: 'next' })).toContain('next');
    await next.leave();
    await expect.poll(() => home.processes(), patient).toEqual([]);
  },
);
