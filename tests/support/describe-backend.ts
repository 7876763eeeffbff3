import { describe, expect, test } from 'vitest';
import { needPty } from './needs.ts';
import type { OpenBackend } from './open-backend.ts';
import { readAll } from './read-all.ts';

/** The contract of a backend, which is the same on every road to its worker. `reason` is why it cannot be tested here. */
export function describeBackend(name: string, open: () => OpenBackend, reason?: string): void {
  describe.skipIf(reason !== undefined)(name, () => {
    test('carries output of both streams, the exit code and the digests', async () => {
      const { backend, start } = open();
      const id = await start('echo out; echo err >&2; exit 7');
      expect(await readAll(backend, id)).toEqual({ stdout: 'out\n', stderr: 'err\n' });
      const state = await backend.wait(id, 20_000);
      expect(state).toMatchObject({ status: 'failed', stdoutBytes: 4, stderrBytes: 4, end: { exitCode: 7 } });
      expect(state.digests?.stdout).toMatch(/^[0-9a-f]{64}$/);
      await backend.dispose(id);
      await expect(backend.wait(id, 0)).rejects.toMatchObject({ code: 'job_not_found' });
    });

    test('carries more output than any window, in order and once', async () => {
      const { backend, start } = open();
      const id = await start('seq 1 1500000');
      const { stdout } = await readAll(backend, id);
      expect(stdout.length).toBe(10_888_896);
      expect(stdout.slice(-8)).toBe('1500000\n');
      expect(stdout.split('\n').findIndex((line, index) => line !== String(index + 1))).toBe(1_500_000);
      const middle = await backend.read(id, 5_000_000, { waitMs: 0, maxBytes: 10 });
      expect(Buffer.from(middle.chunks[0]?.data ?? []).toString()).toBe(stdout.slice(5_000_000, 5_000_010));
    });

    test('reports when output was printed, while the command runs and when it is read again', async () => {
      const { backend, start } = open();
      const id = await start('echo early; sleep 1; echo late');
      await readAll(backend, id);
      const { marks } = await backend.read(id, 0, { waitMs: 0, maxBytes: 100 });
      expect(marks?.map(({ cursor }) => cursor)).toEqual([0, 6]);
      const [first, second] = marks?.map(({ ms }) => ms) ?? [];
      expect(Number(second) - Number(first)).toBeGreaterThanOrEqual(900);
    });

    test('writes to stdin, in order, and reports who waits for input', async () => {
      const { backend, start } = open();
      const id = await start('read one; read two; echo "$two $one"', { stdin: 'open' });
      await expect.poll(() => backend.awaitsInput(id), { timeout: 15_000 }).toBe(true);
      await backend.write(id, Buffer.from('a\n'));
      await backend.write(id, Buffer.from('b\n'), { eof: true });
      expect(await readAll(backend, id)).toMatchObject({ stdout: 'b a\n' });
    });

    test('opens a terminal of the size that was asked for', async (context) => {
      await needPty(context);
      const { backend, start } = open();
      const terminal = { cols: 91, rows: 23 };
      const id = await start('test -t 0 && stty size', { terminal, stdin: 'open' });
      expect((await readAll(backend, id)).stdout).toContain('23 91');
    });

    test('starts one id once, and reports why a program cannot start', async () => {
      const { backend, start, folder } = open();
      const id = await start(`echo once >> ${folder}/file; cat ${folder}/file; sleep 60`);
      await backend.start(id);
      expect((await backend.read(id, 0, { waitMs: 20_000, maxBytes: 10 })).next).toBe(5);
      expect((await backend.stop(id, { signal: 'SIGKILL', graceMs: 0 })).status).toBe('killed');
      const missing = { kind: 'argv', argv: ['no-such-program'] } as const;
      await expect(start('', { command: missing })).rejects.toMatchObject({ code: 'program_not_found' });
      expect(await readAll(backend, await start(`cat ${folder}/file`))).toMatchObject({ stdout: 'once\n' });
    });

    test('ends the whole process tree of a command, also a process in a session of its own', async () => {
      const { backend, start, folder } = open();
      const beat = `echo up; while :; do date +%s%N > ${folder}/beat; sleep 0.05; done`;
      const id = await start(`setsid bash -c '${beat}' & wait`);
      expect((await backend.read(id, 0, { waitMs: 20_000, maxBytes: 3 })).next).toBe(3);
      const compareBeats = `sleep 0.3; a=$(cat ${folder}/beat); sleep 0.5; [ "$a" = "$(cat ${folder}/beat)" ] && echo still || echo beats`;
      expect(await readAll(backend, await start(compareBeats))).toMatchObject({ stdout: 'beats\n' });
      await backend.stop(id, { signal: 'SIGTERM', graceMs: 2_000 });
      expect(await readAll(backend, await start(compareBeats))).toMatchObject({ stdout: 'still\n' });
    });

    test('reads the same bytes from the same cursor, also after the end', async () => {
      const { backend, start } = open();
      const id = await start('for i in 1 2 3; do echo $i; sleep 0.05; done');
      await backend.wait(id, 20_000);
      const once = await backend.read(id, 2, { waitMs: 0, maxBytes: 100 });
      expect(Buffer.concat(once.chunks.map(({ data }) => data)).toString()).toBe('2\n3\n');
      expect(await backend.read(id, 2, { waitMs: 0, maxBytes: 100 })).toEqual(once);
      await expect(backend.read(id, 1_000, { waitMs: 0, maxBytes: 1 })).rejects.toMatchObject({
        code: 'invalid_request',
      });
    });

    test('keeps the state of a persistent shell, and sends it only when it has changed', async () => {
      const { backend, start } = open();
      const session = 'me/main';
      await readAll(backend, await start('cd /; x=1; f() { echo "f $x"; }', { session }));
      const query = { cwd: undefined, roots: [], programs: [], session };
      expect((await backend.inspect(query)).session).toMatchObject({ cwd: '/', variables: { x: '1' } });
      expect((await backend.inspect(query)).session?.functions).toHaveProperty('f');
      expect(await readAll(backend, await start('f; pwd', { session, cwd: '/' }))).toMatchObject({
        stdout: 'f 1\n/\n',
      });
      expect(await backend.listSessions()).toMatchObject([{ key: session, cwd: '/' }]);
      expect(await backend.closeSession(session)).toEqual({ survivors: [] });
      expect(await backend.closeSession(session)).toBeNull();
    });
  });
}
