import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from './support/worker.ts';

test('nacre/policy decides for programs that import it, and its types say how', () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(resolve('.'), join(folder, 'node_modules', 'nacre'));
  const program = [
    "import { decideCommand, type CommandDecision } from 'nacre/policy';",
    "const decision: CommandDecision = decideCommand('ls; touch x', ['ls']);",
    "console.log(decision.verdict, decision.rule, decideCommand('rm -rf /', '*').verdict, decideCommand('ls', '*').verdict);",
  ].join('\n');
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'use.ts'), program);
  writeFileSync(
    join(folder, 'use.mjs'),
    program.replace(', type CommandDecision', '').replace(': CommandDecision', ''),
  );
  const flags = ['--noEmit', '--strict', '--module', 'nodenext', '--skipLibCheck', '--types', ''];
  execFileSync(resolve('node_modules/.bin/tsc'), [...flags, 'use.ts'], { cwd: folder });
  const output = execFileSync(process.execPath, ['use.mjs'], { cwd: folder, encoding: 'utf8' });
  expect(output).toBe('deny not_listed deny allow\n');
});
