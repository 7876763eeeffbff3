import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openDescriptors, processesWith, zombieChildren } from '../../tests/support/processes.ts';
import { soakCount } from '../../tests/support/soak.ts';
import { createTestWorker, type TestWorker } from '../../tests/support/worker.ts';
import { memoryFolders } from './folders/server-folders.ts';
import { createProcProcessTable } from './processes/proc-process-table.ts';
import { createPsProcessTable } from './processes/ps-process-table.ts';
import type { WorkerOptions } from './worker-options.ts';

const seconds = (count: number) => count * 1_000;

describe.each([
  ['/proc', 'group', createProcProcessTable()],
  ['ps', 'group', createPsProcessTable()],
  ['/proc', 'unshare', createProcProcessTable()],
  ['/proc', 'namespace', createProcProcessTable()],
] as const)('with the process table %s at level %s', (name, highestLevel, table) => {
  let here: TestWorker;
  let mark = '';
  const make = (options: Partial<WorkerOptions> = {}) =>
    createTestWorker({
      table,
      highestLevel,
      supervisionRequire: highestLevel,
      killGraceMs: 200,
      ...options,
    });
  beforeEach(() => {
    here = make();
    mark = `mark${Math.random()}`;
  });
  afterEach(async () => {
    await here.close();
    expect(processesWith(mark)).toEqual([]);
    await expect.poll(() => zombieChildren()).toEqual([]);
  });
  const marked = (script: string) => here.run(script, { env: { TEST_MARK: mark } });

  test('a script runs, and its stdout and stderr are separate', async () => {
    const { state, stdout, stderr } = await marked('echo out; echo err >&2; exit 3');
    expect({ stdout, stderr }).toEqual({ stdout: 'out\n', stderr: 'err\n' });
    expect(state).toMatchObject({ status: 'failed', end: { cause: 'exit', exitCode: 3, signal: null } });
  });

  test('E1: a command ends when its process exits, not when a background child closes the output', async () => {
    const { state, stdout } = await marked('sleep 100 & echo hi');
    expect(stdout).toBe('hi\n');
    expect(state.durationMs).toBeLessThan(seconds(20));
    expect(state.end?.leftRunning).toEqual([{ pid: expect.any(Number), command: 'sleep 100' }]);
  });

  test('E1: the output of a process substitution that ends by itself is complete', async () => {
    await here.close();
    here = make({ drainMs: 700 });
    const { state, stdout } = await marked('echo through > >(sleep 0.02; cat)');
    expect(stdout).toBe('through\n');
    expect(state.end?.leftRunning).toEqual([]);
  });

  test('E2: a timeout kills the whole tree, even processes that ignore SIGTERM, and the output is kept', async () => {
    const id = await here.start('echo before; trap "" TERM; sleep 60 & sleep 61; wait', {
      env: { TEST_MARK: mark },
      timeoutMs: 300,
    });
    const state = await here.worker.wait(id, seconds(10));
    expect(state).toMatchObject({ status: 'timeout', end: { cause: 'timeout', survivors: [] } });
    expect((await here.output(id)).stdout).toBe('before\n');
    expect(processesWith(mark)).toEqual([]);
  });

  test('E2: a stop ends children and grandchildren before it resolves, and a second stop returns the same', async () => {
    const id = await here.start('(sleep 70 & sleep 71) & echo up; sleep 72', { env: { TEST_MARK: mark } });
    await here.worker.read(id, 0, { waitMs: seconds(5), maxBytes: 10 });
    const [first, second] = await Promise.all([
      here.worker.stop(id, { signal: 'SIGTERM', graceMs: 500 }),
      here.worker.stop(id, { signal: 'SIGTERM', graceMs: 500 }),
    ]);
    expect(processesWith(mark)).toEqual([]);
    expect(first).toEqual(second);
    expect(first).toMatchObject({
      status: 'killed',
      end: { cause: 'stopped', exitCode: 143, signal: 'SIGTERM' },
    });
  });

  test('E2: a second stop with a shorter grace does not wait for the grace of the first', async () => {
    const id = await here.start('trap "" TERM; echo up; sleep 73; sleep 74', { env: { TEST_MARK: mark } });
    await here.worker.read(id, 0, { waitMs: seconds(5), maxBytes: 10 });
    const began = performance.now();
    const patient = here.worker.stop(id, { signal: 'SIGTERM', graceMs: seconds(30) });
    await here.worker.stop(id, { signal: 'SIGTERM', graceMs: 50 });
    expect(await patient).toMatchObject({ status: 'killed', end: { exitCode: 137 } });
    expect(performance.now() - began).toBeLessThan(seconds(5));
  });

  test('E2: a stopped process (SIGSTOP) is ended', async () => {
    const id = await here.start('kill -STOP $$', { env: { TEST_MARK: mark } });
    await new Promise((resolve) => setTimeout(resolve, 100));
    const state = await here.worker.stop(id, { signal: 'SIGTERM', graceMs: 1_000 });
    expect(state.end).toMatchObject({ exitCode: 143 });
  });

  // `ps` does not show the environment of processes.
  if (name === '/proc')
    test('E2: a process that left the process group and was orphaned is found by its marker', async () => {
      // Each of them creates its file once it has been executed.
      const waiting = (name: string) => `perl -e open(F,'>${name}');sleep(80)`;
      const start = (name: string) => `perl -e "open(F,'>${name}');sleep(80)"`;
      const script = `setsid -f ${start('one')}; (setsid nohup ${start('two')} > /dev/null 2>&1 &)
        until [[ -e one && -e two ]]; do sleep 0.01; done; rm one two; echo started`;
      const { state, stdout } = await marked(script);
      expect(stdout).toBe('started\n');
      expect(state.end?.leftRunning.map((left) => left.command).sort()).toEqual(['one', 'two'].map(waiting));
      expect(processesWith(mark)).toEqual([]);
    });
});

// Level `unshare` starts commands as `namespace` does, with another supervisor; the tests above cover it.
describe.each(['group', 'namespace'] as const)('at level %s', (highestLevel) => {
  let here: TestWorker;
  const make = (options: Partial<WorkerOptions> = {}) =>
    createTestWorker({ highestLevel, supervisionRequire: highestLevel, ...options });
  beforeEach(() => {
    here = make();
  });
  afterEach(async () => {
    await here.close();
    await expect.poll(() => zombieChildren()).toEqual([]);
  });

  test('E4: /dev/stdout, /dev/stderr and tee work as in a pipeline', async () => {
    const script =
      'echo a > /dev/stdout; echo b | tee /dev/stderr; echo c > /dev/stderr; echo d >> /dev/stdout';
    expect(await here.run(script)).toMatchObject({ stdout: 'a\nb\nd\n', stderr: 'b\nc\n' });
  });

  test('E4: a command reads what was written to its stdin, also through /dev/stdin', async () => {
    const id = await here.start('cat /dev/stdin; cat', { stdin: 'open' });
    const text = 'ü'.repeat(300_000);
    await here.worker.write(id, Buffer.from(text), { eof: true });
    await here.worker.wait(id, seconds(10));
    expect((await here.output(id)).stdout).toBe(text);
  });

  test('T1: without input stdin is empty', async () => {
    expect(await here.run('cat; echo "[$(wc -c)]"')).toMatchObject({ stdout: '[0]\n' });
  });

  test('writing to a command that has closed its stdin resolves, and to one that has ended is refused', async () => {
    const id = await here.start('exec <&-; sleep 0.1', { stdin: 'open' });
    await Promise.race([here.worker.write(id, Buffer.alloc(1_000_000)), here.worker.wait(id, seconds(5))]);
    await here.worker.wait(id, seconds(5));
    await expect(here.worker.write(id, Buffer.from('x'))).rejects.toMatchObject({ code: 'invalid_request' });
  });

  test('E4: interleaved writes to both streams keep their order and lose nothing', async () => {
    const { stdout, stderr } = await here.run('for i in {1..2000}; do echo $i; echo -$i >&2; done');
    const numbers = Array.from({ length: 2000 }, (_, index) => index + 1);
    expect(stdout).toBe(numbers.map((number) => `${number}\n`).join(''));
    expect(stderr).toBe(numbers.map((number) => `-${number}\n`).join(''));
  });

  test('E6: a script of 1 MiB runs with the same $0 and descriptors as a short one', async () => {
    const filler = `# ${'x'.repeat(1_000)}\n`.repeat(1_000);
    const { stdout, stderr, state } = await here.run(`${filler}echo "$0"; ls /proc/self/fd | wc -l; exit 7`);
    const short = await here.run('echo "$0"; ls /proc/self/fd | wc -l; exit 7');
    expect({ stdout, stderr, code: state.end?.exitCode }).toEqual({
      stdout: short.stdout,
      stderr: short.stderr,
      code: 7,
    });
  });

  test('a script that begins with a dash is not read as an option', async () => {
    expect(await here.run('-x 2> /dev/null || echo "still $-"')).toMatchObject({
      stdout: expect.stringContaining('still'),
    });
  });

  test('a process killed by signal N has exit code 128+N', async () => {
    const { state } = await here.run('kill -9 $$');
    expect(state).toMatchObject({
      status: 'failed',
      end: { exitCode: 137, signal: 'SIGKILL', cause: 'exit' },
    });
  });

  test('an exit code above 128 that the command chose itself is no signal', async () => {
    for (const code of [137, 139, 134])
      expect((await here.run(`exit ${code}`)).state.end).toMatchObject({ exitCode: code, signal: null });
  });

  test('a process killed by a real-time signal has exit code 128+N', async () => {
    const { state } = await here.run('kill -40 $$');
    expect(state.end).toMatchObject({ exitCode: 168, cause: 'exit' });
  });

  test('an argv command runs without a shell', async () => {
    const command = { kind: 'argv', argv: ['printf', '%s|', '$HOME', '; ls', '*'] } as const;
    expect(await here.run('', { command })).toMatchObject({ stdout: '$HOME|; ls|*|' });
  });

  test('a missing program is an error; one that is not executable has exit code 126', async () => {
    const missing = { kind: 'argv', argv: ['no-such-program'] } as const;
    await expect(here.start('', { command: missing })).rejects.toMatchObject({ code: 'program_not_found' });
    writeFileSync(join(here.folder, 'plain'), 'echo no', { mode: 0o644 });
    const plain = { kind: 'argv', argv: [join(here.folder, 'plain')] } as const;
    const { state, stderr } = await here.run('', { command: plain });
    expect(state).toMatchObject({ status: 'failed', end: { exitCode: 126 } });
    expect(stderr).toContain('Permission denied');
  });

  test('T7: a deleted working directory is an error that names it, and nothing runs', async () => {
    const gone = join(here.folder, 'gone');
    mkdirSync(gone);
    rmdirSync(gone);
    await expect(here.start('echo x', { cwd: gone })).rejects.toMatchObject({
      code: 'cwd_invalid',
      message: expect.stringContaining(gone),
    });
    expect(await here.worker.list()).toEqual([]);
  });

  test('starting the same id twice starts it once', async () => {
    const file = join(here.folder, 'count');
    const spec = { id: 'cmd_same' };
    await Promise.all([here.start(`echo x >> ${file}`, spec), here.start(`echo x >> ${file}`, spec)]);
    await here.worker.wait('cmd_same', seconds(5));
    expect(readFileSync(file, 'utf8')).toBe('x\n');
  });

  test('a deleted state folder is created again', async () => {
    await here.run('true');
    rmSync(join(here.folder, 'state'), { recursive: true });
    expect(await here.run('echo works')).toMatchObject({ stdout: 'works\n' });
  });

  test('E2: many commands leave no zombie, descriptor, FIFO or file behind', async () => {
    const rounds = soakCount(250, 20);
    await here.run('true');
    const { folder } = await here.worker.report();
    const filesIn = (name: string) =>
      existsSync(join(folder, name)) ? readdirSync(join(folder, name)).length : 0;
    // Keepers of the pool are started in the background.
    await new Promise((resolve) => setTimeout(resolve, 300));
    const before = openDescriptors();
    for (let round = 0; round < rounds; round += 1) {
      const ids = await Promise.all(Array.from({ length: 4 }, () => here.start('echo x; (exit 3)')));
      await Promise.all(ids.map((id) => here.worker.wait(id, seconds(20))));
      await Promise.all(ids.map((id) => here.worker.dispose(id)));
    }
    expect(await here.worker.list()).toHaveLength(1);
    await expect.poll(openDescriptors, { timeout: 5_000 }).toBeLessThanOrEqual(before + 1);
    await expect.poll(() => zombieChildren()).toEqual([]);
    expect([filesIn('spool'), filesIn('scripts')]).toEqual([0, 0]);
    // One batch of FIFOs is created ahead of need; each is unlinked when it is taken.
    const [memory = ''] = memoryFolders({});
    // Only a mount namespace hides /dev/shm, so at level `group` they are on disk.
    const fifos = highestLevel === 'group' ? join(folder, 'fifos') : join(memory, basename(folder));
    expect(readdirSync(fifos).length).toBeLessThanOrEqual(300);
    await expect.poll(() => processesWith(here.folder).length, { timeout: 5_000 }).toBeLessThanOrEqual(10);
  }, 60_000);

  test('E2: closing the worker ends all commands, removes its folder and refuses new commands', async () => {
    await Promise.all([here.start('sleep 90; echo nacre-close-test'), here.start('trap "" TERM; sleep 91')]);
    const { folder } = await here.worker.report();
    await here.worker.close();
    expect(existsSync(folder)).toBe(false);
    expect(processesWith('nacre-close-test')).toEqual([]);
    await expect(here.start('echo x')).rejects.toMatchObject({ code: 'shutting_down' });
  });
});

describe('with any supervision', () => {
  let here: TestWorker;
  const make = createTestWorker;
  beforeEach(() => {
    here = make();
  });
  afterEach(() => here.close());

  test('a read never consumes output, waits for it, and reports when nothing can follow', async () => {
    const id = await here.start('echo one; sleep 0.3; echo two');
    const first = await here.worker.read(id, 0, { waitMs: seconds(5), maxBytes: 100 });
    const again = await here.worker.read(id, 0, { waitMs: 0, maxBytes: 2 });
    const second = await here.worker.read(id, first.next, { waitMs: seconds(5), maxBytes: 100 });
    const texts = [first, again, second].map(({ chunks }) =>
      chunks.map(({ data }) => Buffer.from(data).toString()),
    );
    expect(texts).toEqual([['one\n'], ['on'], ['two\n']]);
    expect(again.next).toBe(2);
    await here.worker.wait(id, seconds(5));
    expect(await here.worker.read(id, 8, { waitMs: seconds(60), maxBytes: 1 })).toMatchObject({
      chunks: [],
      final: true,
    });
    await expect(here.worker.read(id, 9, { waitMs: 0, maxBytes: 1 })).rejects.toMatchObject({
      code: 'invalid_request',
    });
  });

  test('a job that was disposed of is not found, and a running one cannot be disposed of', async () => {
    const { state } = await here.run('true');
    await here.worker.dispose(state.id);
    await expect(here.worker.wait(state.id, 0)).rejects.toMatchObject({ code: 'job_not_found' });
    const id = await here.start('sleep 5');
    await expect(here.worker.dispose(id)).rejects.toThrow('still running');
  });

  test('E3: output that exceeds the memory limit is read back completely from the spool', async () => {
    await here.close();
    here = make({ ringBytes: 4_096 });
    const { stdout, stderr } = await here.run(
      'for i in {1..5000}; do echo line $i; ((i % 7)) || echo err $i >&2; done',
    );
    expect(stdout.split('\n')).toHaveLength(5_001);
    expect(stderr.split('\n')).toHaveLength(715);
    expect(stdout).toContain('line 4999\nline 5000\n');
  });

  test('E3: a command that exceeds its spool quota is killed, and exactly the quota is kept', async () => {
    await here.close();
    here = make({ spoolBytes: 3_000_000 });
    const { state, stdout } = await here.run('yes');
    expect(state).toMatchObject({ status: 'killed', stdoutBytes: 3_000_000, end: { cause: 'output_limit' } });
    expect(state.end?.detail).toContain('3000000');
    expect(stdout).toHaveLength(3_000_000);
  });

  test('E3: a command that exceeds the shared spool quota is killed, and disposing of jobs frees the quota', async () => {
    await here.close();
    here = make({ ringBytes: 262_144, spoolTotalBytes: 8_000_000 });
    const first = await here.run('head -c 7000000 /dev/zero');
    const second = await here.run('yes');
    expect(first.state.status).toBe('completed');
    expect(second.state.end).toMatchObject({
      cause: 'output_limit',
      detail: expect.stringContaining('spool'),
    });
    expect(second.stdout).toHaveLength(second.state.stdoutBytes);
    await here.worker.dispose(first.state.id);
    await here.worker.dispose(second.state.id);
    expect((await here.run('head -c 7000000 /dev/zero')).state.status).toBe('completed');
  });
});
