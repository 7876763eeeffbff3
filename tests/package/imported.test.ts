import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { pack, unpackInto } from '../support/packed.ts';

// The compiler takes seconds on a busy machine.
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
  '// @ts-expect-error: the types know which fields a tool takes.',
  'const nothing = () => nacre.tools.bash.run({ commando: 5 });',
  '// @ts-expect-error: the types know which tools are served when no family is named.',
  'const other = () => nacre.tools.executeCommand;',
  '// @ts-expect-error: the types know which values a setting has.',
  "const wrong = () => createNacre({ sandbox: 'none' });",
  'await nacre.close();',
];

test('nacre/policy decides for programs that import it', () => {
  expect(runProgram(policy)).toBe('deny not_listed deny allow\n');
});

test('nacre runs commands for programs that import it', () => {
  expect(runProgram(tools)).toMatch(/^true 2\n\nBash\nBashOutput\n/);
});

describe.each([
  ['nodenext', ['--module', 'nodenext']],
  ['bundler', ['--module', 'esnext', '--moduleResolution', 'bundler']],
] as const)('with moduleResolution %s', (_name, flags) => {
  // Without skipLibCheck, so that all that our types name has to be there.
  const strict = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--target', 'es2023'];

  test('its types say how', () => {
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
