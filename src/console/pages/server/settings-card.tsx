import { now } from '../../store.ts';
import { toAmount, toPath } from '../../words.ts';
import { showOdd } from '../../worker/visible-text.ts';
import type { SettingRow } from './server-reply.ts';

/** The settings in force with their sources, first those that are set; the console cannot change them. */
export function SettingsCard({ settings }: { readonly settings: readonly SettingRow[] }) {
  const set = settings.filter(({ origin }) => origin.source !== 'default');
  const usual = settings.filter(({ origin }) => origin.source === 'default');
  return (
    <section class="card part" aria-labelledby="settings-title">
      <h2 id="settings-title">Settings in force</h2>
      <p class="soft">Change them where they are set; the console changes none.</p>
      {set.length > 0 && <SettingTable settings={set} withPlace />}
      <details class="usual">
        <summary>{toAmount(usual.length, 'setting')} with their default values</summary>
        <SettingTable settings={usual} />
      </details>
    </section>
  );
}

function SettingTable({
  settings,
  withPlace = false,
}: {
  readonly settings: readonly SettingRow[];
  readonly withPlace?: boolean;
}) {
  const home = now.value?.home ?? '';
  return (
    <table class="settings">
      <thead>
        <tr>
          <th scope="col">Setting</th>
          <th scope="col">Value</th>
          {withPlace && <th scope="col">Set by</th>}
        </tr>
      </thead>
      <tbody>
        {settings.map(({ key, value, origin }) => (
          <tr key={key}>
            <th scope="row">
              <code>{key}</code>
            </th>
            <td>
              <code>{value === undefined ? 'unset' : showOdd(JSON.stringify(value))}</code>
            </td>
            {withPlace && <td class="soft">{toPath(origin.where, home)}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
