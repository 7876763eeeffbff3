import { expect, it } from 'vitest';
import { didYouMean, nearest } from './nearest.ts';

const known = ['--ring-bytes', '--spool-bytes', '--allow'];

it('finds the name that differs by a letter or two', () => {
  expect(nearest('--alow', known)).toBe('--allow');
  expect(nearest('--RING-BYTE', known)).toBe('--ring-bytes');
  expect(didYouMean('--spol-bytes', known)).toBe(' Did you mean --spool-bytes?');
});

it('finds the name that a word abbreviates, if there is exactly one', () => {
  expect(nearest('cmnd', ['cwd', 'command', 'timeout'])).toBe('command');
  expect(nearest('cwt', ['cwd', 'crowd_wants', 'cow_tipping'])).toBe('cwd');
});

it('finds the one name that a word begins', () => {
  expect(nearest('timeout', ['on_timeout', 'timeout_ms', 'timer'])).toBe('timeout_ms');
  expect(nearest('--time', ['--timeout', '--http-idle-timeout'])).toBe('--timeout');
  expect(nearest('sho', ['stop', 'show'])).toBe('show');
});

it('finds other spellings of a name', () => {
  expect(nearest('timeoutMs', ['timeout', 'timeout_ms'])).toBe('timeout_ms');
  expect(nearest('--allowed_commands', ['--allowed-commands', '--allow'])).toBe('--allowed-commands');
});

it('finds the name that a synonym means', () => {
  expect(nearest('run', ['id', 'command', 'tool'])).toBe('command');
  expect(nearest('cmd', ['cwd', 'command', 'commands'])).toBe('command');
  expect(nearest('exec', ['run', 'check'])).toBe('run');
  expect(nearest('--directory', ['--cwd', '--json'])).toBe('--cwd');
  expect(nearest('depends_on', ['needs', 'env'])).toBe('needs');
  expect(nearest('constructor', ['needs', 'env'])).toBeUndefined();
});

it('never suggests the same word', () => {
  expect(nearest('name', ['name', 'parallel'])).toBeUndefined();
});

it('suggests nothing for a word that resembles no name', () => {
  expect(nearest('--verbose', known)).toBeUndefined();
  expect(didYouMean('--verbose', known)).toBe('');
  expect(didYouMean('--allow', [])).toBe('');
  expect(nearest('-v', ['ps'])).toBeUndefined();
  expect(nearest('pz', ['ps'])).toBe('ps');
});
