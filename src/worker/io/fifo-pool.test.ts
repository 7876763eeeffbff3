import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { createFifoPool } from './fifo-pool.ts';

let folder = '';
let fifos = '';
beforeEach(() => {
  folder = temporaryFolder();
  fifos = join(folder, 'fifos');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('concurrent takes never return the same name, and every name is a private FIFO', async () => {
  const pool = createFifoPool(fifos);
  const taken = await Promise.all(Array.from({ length: 200 }, (_, index) => pool.take(1 + (index % 3))));
  const names = taken.flat();
  expect(new Set(names).size).toBe(names.length);
  expect(names).toHaveLength(399);
  for (const name of names) {
    const stat = lstatSync(name);
    expect([stat.isFIFO(), stat.mode & 0o777]).toEqual([true, 0o600]);
  }
  await pool.close();
});

test('a deleted folder is created again', async () => {
  const pool = createFifoPool(fifos);
  await pool.take(2);
  rmSync(fifos, { recursive: true });
  const [name = ''] = await pool.take(1);
  expect(lstatSync(name).isFIFO()).toBe(true);
  await pool.close();
});

test('a file in place of the folder is an error that names the folder, and a later attempt can succeed', async () => {
  writeFileSync(fifos, '');
  const pool = createFifoPool(fifos);
  await expect(pool.take(2)).rejects.toMatchObject({
    code: 'resources_unavailable',
    message: expect.stringContaining(fifos),
    hint: expect.stringContaining('state_dir'),
  });
  rmSync(fifos);
  expect(await pool.take(2)).toHaveLength(2);
  await pool.close();
});

test('existing files are skipped and not changed', async () => {
  mkdirSync(fifos);
  writeFileSync(join(fifos, 'fifo-5'), 'foreign');
  const pool = createFifoPool(fifos);
  await expect(pool.take(1)).rejects.toMatchObject({ code: 'resources_unavailable' });
  const [name = ''] = await pool.take(1);
  expect(lstatSync(name).isFIFO()).toBe(true);
  expect(existsSync(join(fifos, 'fifo-5'))).toBe(true);
  await pool.close();
});

test('a program that runs mkfifo is used, and its failure is repaired', async () => {
  const pool = createFifoPool(fifos, 8);
  await pool.take(8);
  const ran: string[] = [];
  pool.runWith(async ([program = '', ...args], limitMs) => {
    ran.push(`${args.length} in ${limitMs} ms`);
    const part = ran.length === 1 ? args : args.slice(0, 4);
    execFileSync(program, part);
    return ran.length === 1;
  });
  const names = [...(await pool.take(8)), ...(await pool.take(8))];
  expect(ran.slice(0, 2)).toEqual(['10 in 60000 ms', '10 in 60000 ms']);
  expect(names.filter((name) => lstatSync(name).isFIFO())).toHaveLength(16);
  await pool.close();
});

test('without mkfifo the error says so', async () => {
  const pool = createFifoPool(fifos, 8, join(folder, 'no-such-mkfifo'));
  await expect(pool.take(1)).rejects.toMatchObject({ message: expect.stringContaining('no-such-mkfifo') });
  await pool.close();
});

test('a failing mkfifo leaves nothing behind', async () => {
  const mkfifo = join(folder, 'mkfifo');
  writeFileSync(mkfifo, '#!/bin/sh\nshift 2\n/usr/bin/env mkfifo "$1"\necho no space left >&2\nexit 1\n');
  chmodSync(mkfifo, 0o755);
  const pool = createFifoPool(fifos, 128, mkfifo);
  await expect(pool.take(1)).rejects.toMatchObject({ message: expect.stringContaining('no space left') });
  expect(readdirSync(fifos)).toEqual([]);
});

test('an mkfifo that is too slow, or fails without a message, is one short error', async () => {
  const mkfifo = join(folder, 'mkfifo');
  writeFileSync(mkfifo, '#!/bin/sh\nexec sleep 60\n');
  chmodSync(mkfifo, 0o755);
  await expect(createFifoPool(fifos, 128, mkfifo, 50).take(1)).rejects.toMatchObject({
    message: `Cannot create pipes in ${fifos}: ${mkfifo} took longer than 50 ms`,
    hint: expect.stringContaining('overloaded'),
  });
  writeFileSync(mkfifo, '#!/bin/sh\nexit 3\n');
  await expect(createFifoPool(fifos, 128, mkfifo).take(1)).rejects.toMatchObject({
    message: `Cannot create pipes in ${fifos}: mkfifo failed (3)`,
  });
});

test('after closing no more FIFOs are created, so that the folder can be removed', async () => {
  const pool = createFifoPool(fifos);
  await pool.take(120);
  await pool.close();
  const before = readdirSync(fifos).length;
  expect(before).toBe(256);
  rmSync(fifos, { recursive: true });
  expect(execFileSync('ls', [folder], { encoding: 'utf8' })).toBe('');
});
