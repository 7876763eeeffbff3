import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { type FarMessage, readMessage } from './far-messages.ts';
import { cannotWrite, missingNode } from './road-errors.ts';

const receive = (line: string): Promise<FarMessage> => {
  const stream = new PassThrough();
  stream.end(`banner\n\ntag ${line}\n`);
  return readMessage(stream, 'tag', 1_000);
};

const honest = {
  ...{ need: 'node', os: 'Linux', arch: 'x86_64', libc: 'glibc', error: 'EACCES', message: 'No', path: '/x' },
  ...{ done: true, ready: { platform: 'linux', arch: 'x64', node: '22.0.0' } },
};

test('a message has the fields that the loader sends, and no others', async () => {
  expect(await receive(JSON.stringify(honest))).toEqual(honest);
  expect(await receive(JSON.stringify({ done: true, more: 'x'.repeat(1_000) }))).toEqual({ done: true });
});

test.each(Object.keys(honest))('a message with a wrong %s is damaged', async (field) => {
  const wrongValues = [null, -1, [], { toString: 5 }, 'x'.repeat(10_000), field === 'done' ? 'true' : false];
  for (const wrong of wrongValues)
    await expect(receive(JSON.stringify({ ...honest, [field]: wrong }))).rejects.toThrow(
      'it sent a damaged message',
    );
  for (const line of ['null', '[]', '"x"', '1', '{"done":tru}'])
    await expect(receive(line)).rejects.toThrow('it sent a damaged message');
});

test('names that every object has are neither architectures nor error codes', () => {
  for (const name of ['constructor', '__proto__', 'toString']) {
    const unknown = missingNode('m', { os: 'Linux', arch: name, libc: 'glibc' });
    expect(unknown.hint).toBe('Install Node.js 20.19 or newer there.');
    expect(cannotWrite('m', '~/x', { error: name, message: 'reason' }).message).toContain('because reason');
  }
});
