import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { NacreError } from '../contract/failure.ts';
import { toJson, toSentences, write } from './say.ts';

describe('write', () => {
  it('resolves when the reader has taken it, or is gone', async () => {
    const stream = new PassThrough();
    await write(stream, 'hi');
    expect(stream.read().toString()).toBe('hi');
    stream.on('error', () => {});
    stream.destroy();
    await write(stream, 'nobody is there');
  });

  it('waits for a reader that is slow, until there is no more reason to', async () => {
    const stuck = new Writable({ write() {} });
    const reason = new AbortController();
    let done = false;
    const written = write(stuck, 'x', reason.signal).then(() => {
      done = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(done).toBe(false);
    reason.abort();
    await written;
    await write(stuck, 'y', reason.signal);
  });
});

describe('a failure', () => {
  it('is a sentence and a hint for people, and a document for scripts', () => {
    const error = new NacreError('cwd_invalid', 'cwd is missing.', { hint: 'Make it.' });
    expect(toSentences(error)).toBe('nacre: cwd is missing.\nnacre: Make it.\n');
    expect(JSON.parse(toJson(error))).toEqual({
      error: { code: 'cwd_invalid', message: 'cwd is missing.', hint: 'Make it.' },
    });
    expect(toSentences(new NacreError('internal', 'No hint.'))).toBe('nacre: No hint.\n');
  });

  it('of any other kind is an internal one', () => {
    expect(toSentences(new TypeError('surprise'))).toMatch(
      /^nacre: Internal failure: surprise\nnacre: This is a bug in nacre/,
    );
    expect(JSON.parse(toJson('surprise')).error).toEqual({
      code: 'internal',
      message: 'Internal failure: surprise',
      hint: expect.stringContaining('try again'),
    });
  });
});
