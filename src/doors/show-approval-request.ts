import type { ApprovalSubject } from '../engine/approval/approval.ts';
import { escapeControls } from '../support/escape-controls.ts';
import { describeHeldChanges } from '../tools/common/describe-changes.ts';

/** Everything the user has to approve, one row per field. */
export function showApprovalRequest(asked: ApprovalSubject): string {
  const { command, on, cwd, env, input, into, sandbox, changes } = asked;
  const text =
    command.kind === 'shell' ? command.script : command.argv.map((word) => JSON.stringify(word)).join(' ');
  const rows = [
    ...(on === undefined ? [] : [['on', on]]),
    ['in', cwd],
    ...(into === null ? [] : [['into', into]]),
    ...(sandbox === null ? [] : [['sandbox', sandbox]]),
    ...Object.entries(env).map(([name, value]) => ['with', `${name}=${value}`]),
    ...(input === null ? [] : [['stdin', input]]),
    [changes ? 'ran' : 'runs', text],
    ...(changes ? [['changed', describeHeldChanges(changes).join('\n')]] : []),
  ];
  return rows.map(([name = '', value = '']) => toRow(name, value)).join('');
}

/**
 * A labelled row. Each further line of `value` is marked with `|`, so that text from a model cannot imitate a row of
 * nacre's own.
 */
export function toRow(name: string, value: string): string {
  const [first = '', ...rest] = value.split('\n').map(escapeControls);
  return [`  ${name.padEnd(8)}| ${first}\n`, ...rest.map((line) => `  ${' '.repeat(8)}| ${line}\n`)].join('');
}
