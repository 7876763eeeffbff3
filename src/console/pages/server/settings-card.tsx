import { showOdd } from '../../worker/visible-text.ts';
import type { SettingRow } from './server-reply.ts';

/** The settings in force; the console shows them and changes none. */
export function SettingsCard({ settings }: { readonly settings: readonly SettingRow[] }) {
  return (
    <section class="card part" aria-labelledby="settings-title">
      <h2 id="settings-title">Settings in force</h2>
      <p class="soft">
        They are edited where they are: in the settings file, the environment or the command line.
      </p>
      <table class="settings">
        <thead>
          <tr>
            <th scope="col">Setting</th>
            <th scope="col">Value</th>
          </tr>
        </thead>
        <tbody>
          {settings.map(({ key, value }) => (
            <tr key={key}>
              <th scope="row">
                <code>{key}</code>
              </th>
              <td>
                <code>{value === undefined ? 'unset' : showOdd(JSON.stringify(value))}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
