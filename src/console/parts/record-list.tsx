import type { RecordRow } from '../../contract/console.ts';
import { now } from '../store.ts';
import { toClock, toDoor, toPath, toSpan } from '../words.ts';
import { showOdd } from '../worker/visible-text.ts';

const hidden = new Set([
  'seq',
  'time',
  'kind',
  'id',
  'door',
  'client',
  'server',
  'prev',
  'mac',
  'command',
  'found',
]);

/** The records of a command, each as a few words or with every field. */
export function RecordList({
  records,
  isShort = false,
}: {
  readonly records: readonly RecordRow[];
  readonly isShort?: boolean;
}) {
  const first = records[0] === undefined ? 0 : Date.parse(records[0].time);
  return (
    <ol class={isShort ? 'steps' : 'records'}>
      {records.map((record) => (
        <li key={`${record.server}-${record.seq}`}>
          <time dateTime={record.time} title={record.time}>
            {record === records[0] ? toClock(record.time) : `+${toSpan(Date.parse(record.time) - first)}`}
          </time>
          <b>{record.kind}</b>
          <span class="soft">{describe(record)}</span>
          {!isShort && (
            <details>
              <summary>fields</summary>
              <pre>{toFields(record)}</pre>
            </details>
          )}
        </li>
      ))}
    </ol>
  );
}

/** A record in a few words. */
export function describe(record: RecordRow): string {
  const { kind } = record;
  if (kind === 'asked') return `by ${showOdd(record.client)} ${toDoor(record.door)}`;
  if (kind === 'decided') return `${record.verdict}: ${record.rule}`;
  if (kind === 'started')
    return record.cwd === undefined ? '' : `in ${toPath(String(record.cwd), now.value?.home ?? '')}`;
  if (kind === 'finished')
    return record.exit_code === null ? String(record.status) : `${record.status}, exit ${record.exit_code}`;
  if (kind === 'approved' || kind === 'declined') return `by ${showOdd(String(record.by))}`;
  if (kind === 'refused' || kind === 'failed') return String(record.code);
  if (kind === 'skipped') return showOdd(String(record.reason ?? ''));
  const detail = typeof record.detail === 'string' ? `${showOdd(record.detail)}, ` : '';
  return `${detail}by ${showOdd(record.client)}`;
}

function toFields(record: RecordRow): string {
  const shown = Object.entries(record).filter(([name]) => !hidden.has(name));
  return showOdd(shown.map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join('\n'));
}
