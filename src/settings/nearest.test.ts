import { expect, it } from 'vitest';
import { didYouMean, nearest } from './nearest.ts';

const known = ['--ring-bytes', '--spool-bytes', '--allow'];

it('finds the name that differs by a letter or two', () => {
  expect(nearest('--alow', known)).toBe('--allow');
  expect(nearest('--RING-BYTE', known)).toBe('--ring-bytes');
  expect(didYouMean('--spol-bytes', known)).toBe(' Did you mean --spool-bytes?');
});

it('finds the name that a word abbreviates, if there is exactly one', () => {
  expect(nearest('cmd', ['cwd', 'command', 'timeout'])).toBe('command');
  expect(nearest('cmd', ['cwd', 'command', 'commands'])).toBe('cwd');
});

it('suggests nothing for a word that resembles no name', () => {
  expect(nearest('--verbose', known)).toBeUndefined();
  expect(didYouMean('--verbose', known)).toBe('');
  expect(didYouMean('--allow', [])).toBe('');
  expect(nearest('-v', ['ps'])).toBeUndefined();
  expect(nearest('pz', ['ps'])).toBe('ps');
});
