import type { Rules } from '../../contract/decision.ts';
import type { Checked } from '../../engine/journey/check.ts';
import { escapeControls } from '../../support/escape-controls.ts';
import type { Display } from '../display.ts';
import type { Paint } from '../paint.ts';
import { layOutTable } from '../table.ts';

/** The decision about a command as `nacre check` prints it; the programs are a table for people and plain lines for scripts. */
export function toDecisionText(
  checked: Checked,
  rules: Rules & { readonly kernel?: string | undefined },
  display: Display,
): string {
  const { verdict, rule, reason, node, hint, remedy, changes } = checked.decision;
  const { paint } = display;
  // The command may contain control characters, and these sentences quote it.
  const line = (label: string, text: string) => `${paint.faint(`${label}:`)} ${escapeControls(text)}\n`;
  return [
    `${paintVerdict(verdict, paint)}: ${escapeControls(reason)}\n`,
    line('rule', rule),
    ...(changes === undefined ? [] : [line('changes', changes)]),
    ...(node === undefined ? [] : [line(`at ${node.pos}-${node.end}`, node.text)]),
    ...(display.isForPeople ? [] : [toProgramLines(checked)]),
    ...(rules.preset === undefined ? [] : [`${toPresetLine(rules)}\n`]),
    ...(rules.kernel === undefined ? [] : [line('kernel', rules.kernel)]),
    ...(hint === undefined ? [] : [line('hint', hint)]),
    ...(remedy === undefined || remedy === hint ? [] : [line('to allow it', remedy)]),
    ...(display.isForPeople ? [toProgramTable(checked, display)] : []),
  ].join('');
}

/** The preset in effect and the programs that it allows, on one line. */
export function toPresetLine({ preset, allow, fileWrites }: Rules): string {
  const list = allow.kind === 'names' ? allow.names.join(', ') : '*, which is every program';
  return `preset ${preset}: ${list}${fileWrites === 'none' ? '; no file may be written' : ''}`;
}

function paintVerdict(verdict: Checked['decision']['verdict'], paint: Paint): string {
  return { allow: paint.good, ask: paint.warning, deny: paint.bad }[verdict](verdict);
}

function toProgramLines({ decision: { programs }, found }: Checked): string {
  if (programs.length === 0) return '';
  const lines = programs.map(({ name, pos, end, via }) => {
    const details = [`${pos}-${end}`, found[name] ?? '', via === undefined ? '' : `started by ${via}`];
    return `  ${escapeControls(`${name} (${details.filter((detail) => detail !== '').join(', ')})`)}\n`;
  });
  return `programs:\n${lines.join('')}`;
}

function toProgramTable({ decision: { programs }, found }: Checked, display: Display): string {
  if (programs.length === 0) return '';
  const rows = programs.map(({ name, pos, end, via }) => [
    { text: escapeControls(name), paint: display.paint.name },
    { text: `${pos}-${end}` },
    { text: escapeControls(via ?? '-') },
    { text: escapeControls(found[name] ?? '-') },
  ]);
  return `\n${layOutTable(columns, rows, display)}`;
}

const columns = [{ title: 'PROGRAM' }, { title: 'AT' }, { title: 'STARTED BY' }, { title: 'FILE' }];
