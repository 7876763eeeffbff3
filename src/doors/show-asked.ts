import type { ApprovalSubject } from '../engine/approval/approval.ts';
import { visible } from '../support/visible.ts';

/** All that a person is to decide about, a line a thing. */
export function showAsked({ command, cwd, env, input, into, sandbox }: ApprovalSubject): string {
  const text =
    command.kind === 'shell' ? command.script : command.argv.map((word) => JSON.stringify(word)).join(' ');
  const rows = [
    ['in', cwd],
    ...(into === null ? [] : [['into', into]]),
    ...(sandbox === null ? [] : [['sandbox', sandbox]]),
    ...Object.entries(env).map(([name, value]) => ['with', `${name}=${value}`]),
    ...(input === null ? [] : [['stdin', input]]),
    ['runs', text],
  ];
  return rows.map(([name = '', value = '']) => toRow(name, value)).join('');
}

/** A named line; every further line of what a model wrote is marked as such, so that none passes for one of ours. */
export function toRow(name: string, value: string): string {
  const [first = '', ...rest] = value.split('\n').map(visible);
  return [`  ${name.padEnd(8)}| ${first}\n`, ...rest.map((line) => `  ${' '.repeat(8)}| ${line}\n`)].join('');
}
