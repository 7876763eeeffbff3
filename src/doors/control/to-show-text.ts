import type { AuditRecord } from '../../audit/read-records.ts';
import type { CommandSummary } from '../../audit/summarise-commands.ts';
import { escapeControls } from '../../support/escape-controls.ts';
import { quoteWord } from '../../support/quote.ts';
import type { Display } from '../display.ts';
import { type Paint, paintOutcome } from '../paint.ts';
import { toLocalTime, toShortDuration } from '../terminal-text.ts';
import type { KeptOutput } from './find-output.ts';

/** Everything that is known about one command. */
export interface ShownCommand {
  readonly command: CommandSummary;
  readonly records: readonly AuditRecord[];
  readonly output: KeptOutput | undefined;
}

/** The text of `nacre show`: labelled lines, then the output as it was kept. */
export function toShowText(
  { command, records, output }: ShownCommand,
  { paint, isForPeople }: Display,
): string {
  const showTime = (time: string) => (isForPeople ? toLocalTime(time) : time);
  const rows: readonly Row[] = [
    ['id', paint.name(escapeControls(command.id))],
    ['command', toLines(command.command)],
    ['caller', `${escapeControls(command.client)} (${escapeControls(command.door)})`],
    ['directory', escapeControls(command.cwd ?? 'not decided')],
    ['asked', showTime(command.time)],
    ...toEvents(records, showTime, paint),
    ['outcome', toOutcome(command, paint)],
    ...(command.outcome === 'refused' ? [['next', toNextStep(command)] as const] : []),
    ...(command.duration_ms === null ? [] : [['took', toShortDuration(command.duration_ms)] as const]),
    ['output', describeOutput(command, records, output)],
  ];
  const labelled = rows.map(([label, text]) => `${paint.heading(label.padEnd(labelWidth))}${text}\n`);
  const body = output === undefined || output.text === '' ? '' : `\n${output.text.replace(/\n?$/, '\n')}`;
  return `${labelled.join('')}${body}`;
}

type Row = readonly [label: string, text: string];

const labelWidth = 11;

function toLines(text: string): string {
  return text
    .split('\n')
    .map(escapeControls)
    .join(`\n${' '.repeat(labelWidth)}`);
}

// A refusal repeats the reason of the decision, unless another part of nacre refused.
function toEvents(
  records: readonly AuditRecord[],
  showTime: (time: string) => string,
  paint: Paint,
): readonly Row[] {
  const decided = records.find(({ kind }) => kind === 'decided');
  const shown = records.filter(({ kind, message }) => kind !== 'refused' || message !== decided?.reason);
  return shown.flatMap((record) => toEvent(record, showTime, paint));
}

function toNextStep({ command }: CommandSummary): string {
  const isShort = command.length <= longestExample && !command.includes('\n');
  return `nacre check ${isShort ? quoteWord(escapeControls(command)) : 'COMMAND'} explains the decision and what would allow it`;
}

const longestExample = 60;

function toEvent(record: AuditRecord, showTime: (time: string) => string, paint: Paint): readonly Row[] {
  const field = (name: string) => escapeControls(String(record[name] ?? ''));
  switch (record.kind) {
    case 'decided': {
      const verdict = field('verdict');
      const painted = (verdict === 'allow' ? paint.good : verdict === 'ask' ? paint.warning : paint.bad)(
        verdict,
      );
      return [['decision', `${painted} (${field('rule')}): ${field('reason')}`]];
    }
    case 'approved':
    case 'declined':
      return [[record.kind, `by ${field('by')}, ${showTime(record.time)}`]];
    case 'input':
      return [['input', `${field('chars')} characters, ${showTime(record.time)}`]];
    case 'stop':
      return [['stopped', `with ${field('signal')} by ${field('client')}, ${showTime(record.time)}`]];
    case 'skipped':
    case 'unknown_caller':
      return [['reason', field('reason')]];
    case 'refused':
    case 'failed':
      return [['reason', field('message')]];
    default:
      return [];
  }
}

function toOutcome(command: CommandSummary, paint: Paint): string {
  const { outcome, exit_code } = command;
  const painted = paintOutcome(outcome, paint)(escapeControls(outcome));
  if (outcome === 'running') return `${painted}, or killed with its server: no end is recorded`;
  return exit_code === null ? painted : `${painted}, exit code ${exit_code}`;
}

function describeOutput(
  { outcome }: CommandSummary,
  records: readonly AuditRecord[],
  output: KeptOutput | undefined,
): string {
  if (output) {
    const from = output.source === 'server' ? 'kept by the running server' : 'recorded';
    return `${output.text === '' ? 'empty, ' : ''}${from}${output.truncated ? '; the beginning is left out' : ''}`;
  }
  const end = records.find(({ kind }) => kind === 'finished');
  if (!end && outcome !== 'running') return 'none; the command was not run';
  const bytes = end ? `${Number(end.stdout_bytes) + Number(end.stderr_bytes)} bytes, ` : '';
  return `${bytes}not kept; the setting record keeps the output of future commands`;
}
