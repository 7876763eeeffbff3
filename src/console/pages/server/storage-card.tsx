import { now } from '../../store.ts';
import { toAmount, toPath, toSize, toSpan } from '../../words.ts';
import type { ServerReply } from './server-reply.ts';

/** The size, folder and retention of records, recordings and output. */
export function StorageCard({ reply }: { readonly reply: ServerReply }) {
  const home = now.value?.home ?? '';
  const { audit, recordings } = reply.storage;
  const setting = (key: string) => reply.settings.find((one) => one.key === key)?.value;
  const isRecording = setting('record') === true;
  const rows = [
    [
      'Records',
      reply.places.audit,
      `${toSize(audit.bytes)} in ${toAmount(audit.files, 'file')}; kept for ${setting('audit_keep_days')} days, up to ${toSize(Number(setting('audit_max_bytes')))}`,
    ],
    [
      'Recordings',
      reply.places.recordings,
      `${toSize(recordings.bytes)} in ${toAmount(recordings.files, 'file')}; ${
        isRecording
          ? `up to ${toSize(Number(setting('record_max_bytes')))}`
          : 'off, turn on with record: true'
      }`,
    ],
    [
      'Output',
      reply.places.state,
      `kept for ${toSpan(Number(setting('tombstone_seconds')) * 1_000)} after the end of a command`,
    ],
  ] as const;
  return (
    <section class="card part" aria-labelledby="storage-title">
      <h2 id="storage-title">Storage</h2>
      <ul class="plain-list storage">
        {rows.map(([name, place, words]) => (
          <li key={name}>
            <b>{name}</b>
            <span class="soft">{words}</span>
            <code class="soft">{toPath(place ?? null, home)}</code>
          </li>
        ))}
      </ul>
    </section>
  );
}
