import { generateKeyPairSync, sign } from 'node:crypto';
import { expect, test } from 'vitest';
import { signedEnd } from '../contract/wire.ts';
import { CommandEnds } from './command-ends.ts';

const createKey = () => generateKeyPairSync('ed25519');

/** The record of a command that ended in a detached worker. */
function toFinished(id: string, { privateKey, publicKey } = createKey(), worker = 'worker-1') {
  const [startedAt, endedAt] = ['2026-03-01T00:00:00.000Z', '2026-03-01T00:00:05.000Z'];
  const state = {
    ...{ id, status: 'failed', startedAt, durationMs: 5_000, stdoutBytes: 3, stderrBytes: 0 },
    digests: { stdout: 'aa', stderr: 'bb' },
    end: { cause: 'exited', exitCode: 7, signal: null },
  };
  const signature = sign(null, Buffer.from(signedEnd(state, endedAt)), privateKey).toString('base64');
  const key = publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
  return {
    ...{ kind: 'finished', id, status: 'failed', cause: 'exited', exit_code: 7, signal: null },
    ...{ duration_ms: 5_000, stdout_bytes: 3, stderr_bytes: 0, stdout_sha256: 'aa', stderr_sha256: 'bb' },
    end_record: { worker, key, started_at: startedAt, ended_at: endedAt, signature },
  };
}

test('the end that a worker has signed is accepted', () => {
  expect(new CommandEnds().add(toFinished('cmd_1'))).toBeUndefined();
});

test.each([
  ['exit code', { exit_code: 0 }],
  ['status', { status: 'completed' }],
  ['cause', { cause: 'stopped' }],
  ['size', { stdout_bytes: 4 }],
  ['digest', { stderr_sha256: 'cc' }],
  ['id', { id: 'cmd_2' }],
  ['key', { end_record: { ...toFinished('cmd_1').end_record, key: 'nonsense' } }],
  ['signature', { end_record: { ...toFinished('cmd_1').end_record, signature: undefined } }],
])('an end with another %s is found', (_what, change) => {
  expect(new CommandEnds().add({ ...toFinished('cmd_1'), ...change })).toMatch(
    /^has an end that does not match/,
  );
});

test('an end that was signed by another key than earlier ones of the same worker is found', () => {
  const ends = new CommandEnds();
  expect(ends.add(toFinished('cmd_1'))).toBeUndefined();
  expect(ends.add(toFinished('cmd_2'))).toBe(
    'has an end that is signed by another key than earlier ends of worker-1',
  );
  expect(ends.add(toFinished('cmd_3', createKey(), 'worker-2'))).toBeUndefined();
});

test('commands without a recorded end are known, whichever file is read first', () => {
  const ends = new CommandEnds();
  ends.add({ kind: 'started', id: 'cmd_1' });
  ends.add({ kind: 'finished', id: 'cmd_2' });
  ends.add({ kind: 'started', id: 'cmd_2' });
  ends.add({ kind: 'started', id: 'cmd_3' });
  ends.add({ kind: 'failed', id: 'cmd_3' });
  expect(ends.unfinished()).toEqual(['cmd_1']);
});
