import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from './support/worker.ts';

test('nacre/policy decides for programs that import it, and its types say how', () => {
  const output = use([
    "import { decideCommand, type CommandDecision } from 'nacre/policy';",
    "const decision: CommandDecision = decideCommand('ls; touch x', ['ls']);",
    "console.log(decision.verdict, decision.rule, decideCommand('rm -rf /', '*').verdict, decideCommand('ls', '*').verdict);",
  ]);
  expect(output).toBe('deny not_listed deny allow\n');
});

test('nacre runs commands for programs that import it, and its types say how', () => {
  const output = use([
    "import { createNacre, ToolRegistry, registerExecutionTools, type ToolResult } from 'nacre';",
    "const nacre = await createNacre({ allowedCommands: ['echo'], stateDir: './state' });",
    "const result: ToolResult = await nacre.tools.bash.run({ command: 'echo $((1 + 1))' });",
    'console.log(result.success, result.output);',
    'const registry = registerExecutionTools(new ToolRegistry());',
    "for (const { function: fn } of registry.getAllSchemas('openai')) console.log(fn.name);",
    '// @ts-expect-error',
    'const nothing = () => nacre.tools.bash.run({ commando: 5 });',
    '// @ts-expect-error',
    'const other = () => nacre.tools.executeCommand;',
    '// @ts-expect-error',
    "const wrong = () => createNacre({ sandbox: 'none' });",
    'await nacre.close();',
  ]);
  expect(output).toMatch(/^true 2\n\nBash\nBashOutput\n/);
});

/** What a program prints that imports nacre as others do, once its types hold. */
function use(lines: readonly string[]): string {
  const folder = temporaryFolder();
  const program = lines.join('\n');
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(resolve('.'), join(folder, 'node_modules', 'nacre'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'use.ts'), program);
  writeFileSync(join(folder, 'use.mjs'), program.replace(/, type \w+/, '').replace(/(const \w+): \w+/, '$1'));
  const flags = ['--noEmit', '--strict', '--target', 'es2023', '--module', 'nodenext', '--types', ''];
  execFileSync(resolve('node_modules/.bin/tsc'), [...flags, '--skipLibCheck', 'use.ts'], { cwd: folder });
  return execFileSync(process.execPath, ['use.mjs'], { cwd: folder, encoding: 'utf8' });
}
