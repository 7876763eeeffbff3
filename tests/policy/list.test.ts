import { describe, expect, test } from 'vitest';
import { decideCommand } from '../../src/policy/decide-command.ts';

const verdict = (command: string, ...allow: string[]) => decideCommand(command, allow).verdict;

describe('P1: builtins count as programs, except those that only control the shell', () => {
  test.each(['pwd', 'echo x', 'printf x', 'read x', 'type ls', 'history'])('%s must be listed', (command) => {
    expect(verdict(command, 'ls')).toBe('deny');
    expect(verdict(command, command.split(' ')[0] ?? '')).toBe('allow');
  });

  test.each([
    'cd src && ls',
    ': ; true; false; test -f x; [ -f x ]',
    'f() { local x=1; return 0; }; f; shift',
    'export A=1; declare -i n=2; readonly B=3; typeset C=4; unset A; let n+=1',
    'for i in 1 2; do continue; done; while false; do break; done; wait; times; umask 022; exit 0',
    'set -e; getopts ab opt',
  ])('%s is allowed without being listed', (command) => {
    expect(verdict(command, 'ls')).toBe('allow');
  });

  test('substitutions in their arguments are judged', () => {
    expect(verdict('export A=$(touch x)', 'ls')).toBe('deny');
    expect(verdict('[ -n "$(touch x)" ]', 'ls')).toBe('deny');
  });
});

describe('P5: a listed interpreter may run files, and inline code that visibly starts a program is refused', () => {
  test.each([
    ['python3 build.py --fast', 'python3'],
    ['node scripts/build.mjs', 'node'],
    ["python3 -c 'print(1 + 1)'", 'python3'],
    ["node -e 'console.log(process.version)'", 'node'],
  ])('%s is allowed', (command, program) => {
    expect(verdict(command, program)).toBe('allow');
  });

  test.each([
    [`python3 -c 'import os; os.system("touch x")'`, 'python3'],
    [`node -e 'require("child_process").execSync("touch x")'`, 'node'],
    [`perl -e 'system("touch x")'`, 'perl'],
    [`ruby -e '\`touch x\`'`, 'ruby'],
  ])('%s is refused', (command, program) => {
    expect(verdict(command, program)).toBe('deny');
  });
});

describe('P6: a program name that cannot be known is refused under a list', () => {
  test.each(['$cmd x', '"$(cat name)" x', '$1 x', 'l? x'])('%s', (command) => {
    expect(verdict(command, 'ls', 'cat')).toBe('deny');
    expect(decideCommand(command, '*').verdict).toBe('allow');
  });

  test('the script’s own functions are allowed if their bodies are', () => {
    expect(verdict('show() { ls "$1"; }; show src', 'ls')).toBe('allow');
    expect(verdict('show() { touch "$1"; }; show src', 'ls')).toBe('deny');
  });
});
