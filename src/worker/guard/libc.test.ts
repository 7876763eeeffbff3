import { closeSync, openSync } from 'node:fs';
import { beforeEach, describe, expect, test } from 'vitest';
import { needLandlock } from '../../../tests/support/needs.ts';
import { type Libc, loadLibc } from './libc.ts';

let libc: Libc;
beforeEach(async (context) => {
  await needLandlock(context);
  libc = await loadLibc();
});

const ruleset = () => {
  const attributes = Buffer.alloc(8);
  attributes.writeBigUInt64LE(1n);
  return libc.createRuleset(attributes);
};
const rule = (access: bigint, fd: number) => {
  const bytes = Buffer.alloc(12);
  bytes.writeBigUInt64LE(access);
  bytes.writeInt32LE(fd, 8);
  return bytes;
};

describe('the calls of the C library', () => {
  test('create a ruleset and add a rule for a file to it', () => {
    expect(libc.landlockVersion()).toBeGreaterThanOrEqual(2);
    const made = ruleset();
    const file = libc.openPath('/bin/sh');
    expect(file).not.toBeNull();
    libc.addRule(made, rule(1n, file ?? -1));
    for (const fd of [made, file ?? -1]) closeSync(fd);
  });

  test('throw with the name of the error', () => {
    const made = ruleset();
    expect(() => libc.createRuleset(Buffer.alloc(8))).toThrow('landlock_create_ruleset: ');
    expect(() => libc.addRule(made, rule(1n, -1))).toThrow('landlock_add_rule: EBADF');
    expect(() => libc.restrictSelf(-1)).toThrow('landlock_restrict_self: E');
    expect(() => libc.installFilter(Buffer.alloc(8))).toThrow('seccomp: E');
    expect(() => libc.clearCloseOnExec(60_000)).toThrow('descriptor 60000: EBADF');
    expect(() => libc.setEnv('a=b', '')).toThrow('a=b: EINVAL');
    expect(() => libc.exec(['/nowhere/at/all'])).toThrow('/nowhere/at/all: ENOENT');
    closeSync(made);
  });

  test('return null or false for what does not exist', () => {
    expect(libc.openPath('/nowhere/at/all')).toBeNull();
    expect(libc.dropCapability(4_000)).toBe(false);
  });

  test('keep a descriptor open across exec', () => {
    const fd = openSync('/dev/null', 'r');
    expect(() => libc.clearCloseOnExec(fd)).not.toThrow();
    closeSync(fd);
  });
});
