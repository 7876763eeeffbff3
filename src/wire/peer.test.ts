import { Duplex } from 'node:stream';
import { expect, test } from 'vitest';
import { Peer } from './peer.ts';

test('the frames of one turn of the event loop are written together', async () => {
  const writes: number[] = [];
  const stream = new Duplex({
    read() {},
    write(_piece, _encoding, done) {
      writes.push(1);
      done();
    },
    writev(pieces, done) {
      writes.push(pieces.length);
      done();
    },
  });
  const peer = new Peer(stream, { onClose() {} });
  writes.length = 0;
  const sent: string[] = [];
  peer.notify('credit', ['cmd_1', 1]);
  peer.push({ event: 'awaiting', id: 'cmd_1', on: true });
  await Promise.resolve();
  peer.push({ event: 'awaiting', id: 'cmd_1', on: false }, [Buffer.from('raw')], () => sent.push('raw'));
  expect([writes, sent]).toEqual([[], []]);
  await expect.poll(() => sent).toEqual(['raw']);
  expect(writes).toEqual([4]);
  peer.close();
});
