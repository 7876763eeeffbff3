// Nothing in a sandbox changes the machine or reads the server's keys, not even as root.
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { execAllowOf } from '../../../tests/support/exec-list.ts';
import { needLandlock, needLevel, needPrograms, needPty, needRoot } from '../../../tests/support/needs.ts';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { createTestWorker, type TestWorker } from '../../../tests/support/worker.ts';
import type { JobSpec } from '../../contract/job.ts';
import type { WorkerOptions } from '../worker-options.ts';

let here: TestWorker | undefined;
afterEach(async () => {
  await here?.close();
  here = undefined;
});
const open = (options: Partial<WorkerOptions>) => {
  const [home, cwd] = [temporaryFolder(), temporaryFolder()];
  const worker = createTestWorker({ home, cwd, stateDir: join(home, 'state'), ...options });
  here = worker;
  return (script: string, spec: Partial<JobSpec> = {}) => worker.run(script, { cwd, ...spec });
};

const sandboxes = [
  ['workspace', 'namespace'],
  ['strict', 'namespace'],
  ['workspace', 'unshare'],
  ['workspace', 'group'],
] as const;

const controls = [
  '/proc/sysrq-trigger',
  '/proc/sys/kernel/core_pattern',
  '/proc/sys/kernel/modprobe',
  '/proc/sys/kernel/hotplug',
  '/proc/sys/fs/binfmt_misc/register',
  '/proc/sys/vm/drop_caches',
  '/sys/kernel/uevent_helper',
  '/sys/kernel/kexec_crash_size',
  '/sys/power/state',
  '/sys/fs/cgroup/release_agent',
  '/sys/fs/cgroup/cgroup.procs',
];

describe.each(sandboxes)('in the sandbox %s at level %s', (sandbox, highestLevel) => {
  test('root can write to no file of /proc and /sys that controls the machine', async (context) => {
    needRoot(context);
    await (highestLevel === 'namespace' ? needLevel(context, 'namespace') : needLandlock(context));
    const { stdout, state } = await open({ sandbox, highestLevel })(`
      for one in ${controls.join(' ')}; do { : >> "$one"; } 2> /dev/null && echo "opened $one"; done
      for one in /proc/sys /sys/kernel /sys/module /sys/fs /sys/class /sys/bus; do
        { find "$one" -xdev -type f -writable | while read -r file; do { : >> "$file"; } 2> /dev/null && echo "opened $file"; done; } 2> /dev/null
      done
      for kind in proc sysfs cgroup2 binfmt_misc securityfs debugfs; do
        unshare -rm mount -t "$kind" none /mnt 2> /dev/null && echo "mounted $kind"
        mount -t "$kind" none /mnt 2> /dev/null && echo "mounted $kind as root"
      done
      mknod disk b 8 0 2> /dev/null && echo device
      echo done`);
    expect(state.enforcement).toMatchObject({ sandbox, level: highestLevel });
    expect(stdout).toBe('done\n');
  });
});

const [keyctl, addKey, requestKey] = process.arch === 'arm64' ? [219, 217, 218] : [250, 248, 249];
const useKeys = `python3 -c '
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
print([(libc.syscall(n, -1, 0, 0, 0, 0), ctypes.get_errno()) for n in (${keyctl}, ${addKey}, ${requestKey})])'`;
const denied = '[(-1, 38), (-1, 38), (-1, 38)]';

const ways: readonly (readonly [string, Partial<JobSpec>, string?])[] = [
  ['in a waiting shell', {}],
  ['in a session', { session: 'one' }],
  ['at a terminal', { terminal: { cols: 80, rows: 24 } }],
  ['as a long script', {}, `${': '.padEnd(9_000, 'x')}\n${useKeys}`],
];

test.for(sandboxes)(
  'the kernel’s keyrings cannot be used in the sandbox %s at level %s',
  async ([sandbox, highestLevel], context) => {
    needPrograms(context, 'python3');
    await needPty(context);
    await (highestLevel === 'namespace' ? needLevel(context, 'namespace') : needLandlock(context));
    const run = open({ sandbox, highestLevel });
    for (const [way, spec, script = useKeys] of ways) {
      const { stdout, state } = await run(script, spec);
      expect(state.enforcement, way).toMatchObject({ sandbox, level: highestLevel });
      expect(stdout, way).toContain(denied);
    }
  },
);

test('the kernel’s keyrings cannot be used if the kernel enforces the list', async (context) => {
  await needLandlock(context);
  needPrograms(context, 'python3');
  const run = open({ exec: 'enforce', execAllow: execAllowOf(['python3']) });
  expect((await run(useKeys)).stdout).toContain(denied);
});

test('keyrings work without a sandbox and a list', async (context) => {
  needPrograms(context, 'python3');
  expect((await open({})(useKeys)).stdout).not.toContain(denied);
});
