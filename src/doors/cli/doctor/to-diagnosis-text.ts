import type { MachineReport } from '../../../contract/report.ts';
import { escapeControls } from '../../../support/escape-controls.ts';
import type { Display } from '../../display.ts';
import type { DisplayAccess, SettingsAccess, VersionAccess } from '../../door.ts';
import { wrap } from '../../lay-out.ts';
import type { Paint } from '../../paint.ts';
import type { Finding, FindingStatus } from './finding.ts';

/** The report of the machine, or the reason why there is none. */
export type Reported = MachineReport | { readonly failure: unknown };

/** The text of `nacre doctor`: the machine, then each finding with its fix. */
export function toDiagnosisText(
  { version, warnings, display }: VersionAccess & Pick<SettingsAccess, 'warnings'> & DisplayAccess,
  report: Reported,
  findings: readonly Finding[],
): string {
  const rows = [
    ['nacre', version],
    ['Node.js', process.version],
    ...('failure' in report ? [] : toRows(report)),
    ...warnings.map((warning) => ['warning', warning]),
  ];
  const table = rows.map(([name = '', value = '']) => {
    // Paths and warnings may contain control characters.
    const lines = toLines(escapeControls(value), labelWidth, display);
    return `${display.paint.heading(name)}${' '.repeat(Math.max(1, labelWidth - name.length))}${lines}\n`;
  });
  return [...table, '\n', ...findings.map((finding) => toFindingText(finding, display))].join('');
}

const labelWidth = 20;
const statusWidth = 9;

const networkWords = {
  on: 'on',
  off: 'off in the sandbox',
  filtered: 'only hosts in network_allow',
};

function toRows(report: MachineReport): readonly (readonly string[])[] {
  return [
    ['bash', `${report.bash.version} at ${report.bash.path}`],
    ['PATH', report.path],
    ['login environment', report.loginEnvironment],
    ['withheld variables', report.withheldEnv.join(', ') || 'none'],
    ['state folder', report.folder],
    ['processes', `found with ${report.processTable}`],
    ['supervision', report.supervision],
    ['sandbox', report.files === 'landlock' ? `${report.sandbox} (landlock)` : report.sandbox],
    ['network', networkWords[report.network]],
    ['listed programs', toExecText(report)],
    ['Landlock', report.landlock],
    ...report.gaps.map((gap) => ['gap', gap]),
  ];
}

function toExecText({ exec, execNote }: MachineReport): string {
  const text = exec === 'enforced' ? 'enforced by the kernel' : 'judged by policy only';
  return execNote === undefined ? text : `${text} (exec auto: ${execNote})`;
}

function toFindingText({ check, status, found, fix }: Finding, display: Display): string {
  const { paint } = display;
  // `found` may quote a client's configuration, so control characters are made visible.
  const text = toLines(`${check}: ${escapeControls(found)}`, statusWidth, display);
  const painted = paintStatus(status, paint)(status);
  const line = `${painted}${' '.repeat(statusWidth - status.length)}${text}\n`;
  if (fix === undefined) return line;
  const how = toLines(escapeControls(fix), statusWidth + 2, display);
  return `${line}${' '.repeat(statusWidth)}${paint.name(`→ ${how}`)}\n`;
}

// At a terminal, continued lines are indented like the first one; a pipe gets one line.
function toLines(text: string, indent: number, { isForPeople, columns }: Display): string {
  if (!isForPeople || columns === undefined || columns < indent + minTextColumns) return text;
  return wrap(text, columns - indent).join(`\n${' '.repeat(indent)}`);
}

const minTextColumns = 20;

function paintStatus(status: FindingStatus, paint: Paint): (text: string) => string {
  return { ok: paint.good, note: paint.faint, warning: paint.warning, problem: paint.bad }[status];
}
