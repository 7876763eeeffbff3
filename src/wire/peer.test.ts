import { Duplex } from 'node:stream';
import { expect, test } from 'vitest';
import { Peer } from './peer.ts';

function createPeer() {
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
  return { peer, writes };
}

test('the frames of one callback of the event loop are written together, before the next callback', async () => {
  const { peer, writes } = createPeer();
  const sent: string[] = [];
  peer.notify('credit', ['cmd_1', 1]);
  peer.push({ event: 'awaiting', id: 'cmd_1', on: true });
  await Promise.resolve();
  peer.push({ event: 'awaiting', id: 'cmd_1', on: false }, [Buffer.from('raw')], () => sent.push('raw'));
  expect([writes, sent]).toEqual([[], []]);
  await new Promise((resolve) => setImmediate(resolve));
  expect([writes, sent]).toEqual([[4], ['raw']]);
  peer.close();
});

test('flush writes the frames so far at once', () => {
  const { peer, writes } = createPeer();
  peer.notify('credit', ['cmd_1', 1]);
  peer.flush();
  peer.flush();
  expect(writes).toEqual([1]);
  peer.close();
});
