import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { NacreError } from '../contract/failure.ts';
import { print, toErrorJson, toErrorText } from './print.ts';

describe('write', () => {
  it('resolves when the data is flushed or the stream is destroyed', async () => {
    const stream = new PassThrough();
    await print(stream, 'hi');
    expect(stream.read().toString()).toBe('hi');
    stream.on('error', () => {});
    stream.destroy();
    await print(stream, 'discarded');
  });

  it('waits for a slow reader until giveUp aborts', async () => {
    const stuck = new Writable({ write() {} });
    const giveUp = new AbortController();
    let done = false;
    const written = print(stuck, 'x', giveUp.signal).then(() => {
      done = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(done).toBe(false);
    giveUp.abort();
    await written;
    await print(stuck, 'y', giveUp.signal);
  });
});

describe('an error', () => {
  it('is a message and a hint as text, and one document as JSON', () => {
    const error = new NacreError('cwd_invalid', 'cwd is missing.', { hint: 'Make it.' });
    expect(toErrorText(error)).toBe('nacre: cwd is missing.\nnacre: Make it.\n');
    expect(JSON.parse(toErrorJson(error))).toEqual({
      error: { code: 'cwd_invalid', message: 'cwd is missing.', hint: 'Make it.' },
    });
    expect(toErrorText(new NacreError('internal', 'No hint.'))).toBe('nacre: No hint.\n');
  });

  it.each(['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM'])('with the code %s is not a bug in nacre', (code) => {
    const error = Object.assign(new Error(`${code}: used up, open '/nacre/dist/a.js'`), { code });
    expect(JSON.parse(toErrorJson(error)).error).toEqual({
      code: 'resources_unavailable',
      message: `The machine or its limits do not allow this now: ${code}: used up.`,
      hint: expect.stringContaining('stop some commands'),
    });
  });

  it('that is not a NacreError is internal', () => {
    expect(toErrorText(new TypeError('surprise'))).toMatch(
      /^nacre: Internal failure: surprise\nnacre: This is a bug in nacre/,
    );
    expect(JSON.parse(toErrorJson('surprise')).error).toEqual({
      code: 'internal',
      message: 'Internal failure: surprise',
      hint: expect.stringContaining('try again'),
    });
  });
});
