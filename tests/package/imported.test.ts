import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { pack, unpackInto } from '../support/packed.ts';

// tsc takes several seconds on a busy machine.
vi.setConfig({ testTimeout: 90_000 });

const packed = pack();
const folder = join(packed.folder, 'program');
mkdirSync(folder);
unpackInto(folder, packed);
writeFileSync(join(folder, 'package.json'), '{"type":"module"}');

const policy = [
  "import { decideCommand, type CommandDecision } from 'nacre/policy';",
  "const decision: CommandDecision = decideCommand('ls; touch x', ['ls']);",
  "console.log(decision.verdict, decision.rule, decideCommand('rm -rf /', '*').verdict, decideCommand('ls', '*').verdict);",
];
const tools = [
  "import { createNacre, ToolRegistry, registerExecutionTools, type ToolResult } from 'nacre';",
  "const nacre = await createNacre({ allowedCommands: ['echo'], stateDir: './state' });",
  "const result: ToolResult = await nacre.tools.bash.run({ command: 'echo $((1 + 1))' });",
  'console.log(result.success, result.output);',
  'const registry = registerExecutionTools(new ToolRegistry());',
  "for (const { function: fn } of registry.getAllSchemas('openai')) console.log(fn.name);",
  '// @ts-expect-error: the types know the fields of a tool.',
  'const nothing = () => nacre.tools.bash.run({ commando: 5 });',
  '// @ts-expect-error: the types know the default tool families.',
  'const other = () => nacre.tools.executeCommand;',
  '// @ts-expect-error: the types know the values of a setting.',
  "const wrong = () => createNacre({ sandbox: 'none' });",
  'await nacre.close();',
];

test('a program can import nacre/policy and decide on commands', () => {
  expect(runProgram(policy)).toBe('deny not_listed deny allow\n');
});

test('a program can import nacre and run commands', () => {
  expect(runProgram(tools)).toMatch(/^true 2\n\nBash\nBashOutput\n/);
});

describe.each([
  ['nodenext', ['--module', 'nodenext']],
  ['bundler', ['--module', 'esnext', '--moduleResolution', 'bundler']],
] as const)('with moduleResolution %s', (_name, flags) => {
  // No `--skipLibCheck`, so that every type that our declarations refer to must exist.
  const strict = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--target', 'es2023'];

  test('its type declarations compile', () => {
    writeFileSync(join(folder, 'use.ts'), [...policy, ...tools].join('\n'));
    compile([...strict, ...flags, '--lib', 'es2023,dom', '--types', '']);
  });
});

function compile(flags: readonly string[]): void {
  execFileSync(resolve('node_modules/.bin/tsc'), [...flags, 'use.ts'], { cwd: folder, encoding: 'utf8' });
}

function runProgram(lines: readonly string[]): string {
  const program = lines.join('\n').replace(/, type \w+/g, '');
  writeFileSync(join(folder, 'use.mjs'), program.replace(/(const \w+): \w+/g, '$1'));
  return execFileSync(process.execPath, ['use.mjs'], { cwd: folder, encoding: 'utf8' });
}
