import { useState } from 'preact/hooks';
import type { ServerCard } from '../../contract/console.ts';
import { ApiError, postJson } from '../api.ts';
import { choices, choose } from '../choices.ts';
import { Spark } from '../parts/spark.tsx';
import { Failure, Loading } from '../parts/states.tsx';
import { clock, mayAct, now } from '../store.ts';
import { useFetched } from '../use-fetched.ts';
import { toCount, toPath, toSpan } from '../words.ts';

interface ServerReply {
  readonly version: string;
  readonly servers: readonly ServerCard[];
  readonly total: number;
  readonly machine: {
    readonly supervision: string;
    readonly sandbox: string;
    readonly network: string;
    readonly gaps: readonly string[];
  };
  readonly places: Readonly<Record<string, string>>;
  readonly settings: readonly { readonly key: string; readonly value: unknown; readonly origin: unknown }[];
  readonly applets: readonly Applet[];
  readonly problems: readonly string[];
  readonly terminal_shells: readonly string[];
}

interface Applet {
  readonly slug: string;
  readonly title?: string;
  readonly description?: string;
  readonly permissions: readonly string[];
  readonly refused: readonly string[];
}

/** Figures, storage, settings, links and applets. */
export function ServerPage() {
  const { data, error, reload } = useFetched<ServerReply>('/api/server');
  const series = useFetched<{ readonly running: readonly number[]; readonly cpu: readonly number[] }>(
    '/api/series',
  );
  if (error) return <Failure error={error} onRetry={reload} isPage />;
  if (!data) return <Loading page="Server" />;
  const home = now.value?.home ?? '';
  const servers = now.value?.servers ?? data.servers;
  return (
    <div class="columns">
      <h1 class="sr">Server</h1>
      <div class="column">
        <section class="card part" aria-labelledby="applets-title">
          <h2 id="applets-title">Applets</h2>
          {data.applets.length === 0 ? (
            <p class="soft">
              No applets. Set their folder with <code>--applets-dir</code>.
            </p>
          ) : (
            <ul class="applets">
              {data.applets.map((applet) => (
                <AppletCard key={applet.slug} applet={applet} shells={data.terminal_shells} />
              ))}
            </ul>
          )}
          {data.problems.map((problem) => (
            <p class="bad" key={problem}>
              {problem}
            </p>
          ))}
        </section>
        <section class="card part" aria-labelledby="all-servers">
          <h2 id="all-servers">Servers of this user</h2>
          <ul class="plain-list">
            {servers.map((server) => (
              <li key={server.instance}>
                <span class={`dot ${server.problem === null ? 'ok' : 'bad'}`} aria-hidden="true" />
                <b>
                  {server.address ?? (server.clients.join(', ') || server.door)}
                  {server.own && ' (this one)'}
                </b>
                <span class="soft">
                  pid {server.pid}, version {server.version}, {server.running} running, for{' '}
                  {toSpan(clock.value - Date.parse(server.since))}, sandbox {server.sandbox ?? 'unknown'}, in{' '}
                  {toPath(server.cwd, home)}
                </span>
                {server.problem !== null && <span class="bad">{server.problem}</span>}
              </li>
            ))}
          </ul>
        </section>
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
              {data.settings.map(({ key, value }) => (
                <tr key={key}>
                  <th scope="row">
                    <code>{key}</code>
                  </th>
                  <td>
                    <code>{value === undefined ? 'unset' : JSON.stringify(value)}</code>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      </div>
      <div class="column">
        <section class="card part" aria-labelledby="figures-title">
          <h2 id="figures-title">Figures</h2>
          <div class="meters">
            <div class="meter">
              <span>Running</span>
              <Spark values={series.data?.running ?? []} label="Running commands over two hours" />
              <b>{now.value?.running.length ?? 0}</b>
            </div>
            <div class="meter">
              <span>CPU</span>
              <Spark values={series.data?.cpu ?? []} label="CPU of commands over two hours" tone="accent" />
              <b>{series.data?.cpu.at(-1) ?? 0} %</b>
            </div>
          </div>
          <p class="fine">
            {toCount(data.total)} commands known · version {data.version} · <a href="/docs">API</a>
          </p>
        </section>
        <Links />
        <section class="card part" aria-labelledby="machine-title">
          <h2 id="machine-title">This machine</h2>
          <dl class="facts-list">
            {Object.entries({
              supervision: data.machine.supervision,
              sandbox: data.machine.sandbox,
              network: data.machine.network,
            }).map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
            {Object.entries(data.places).map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>
                  <code>{toPath(value, home)}</code>
                </dd>
              </div>
            ))}
          </dl>
          {data.machine.gaps.map((gap) => (
            <p class="warn" key={gap}>
              {gap}
            </p>
          ))}
        </section>
        <section class="card part" aria-labelledby="reader-title">
          <h2 id="reader-title">This browser</h2>
          <label class="check">
            <input
              type="checkbox"
              checked={choices.value.letters}
              onChange={(event) => choose({ letters: event.currentTarget.checked })}
            />{' '}
            Single letters are short cuts
          </label>
          <label class="check">
            <input
              type="checkbox"
              checked={choices.value.speaks}
              onChange={(event) => choose({ speaks: event.currentTarget.checked })}
            />{' '}
            Announce new lines of an output
          </label>
          <p>
            <button
              class="btn"
              type="button"
              onClick={() =>
                void fetch('/api/session', { method: 'DELETE' }).then(() => window.location.assign('/'))
              }
            >
              Sign out
            </button>
          </p>
        </section>
      </div>
    </div>
  );
}

function AppletCard({ applet, shells }: { readonly applet: Applet; readonly shells: readonly string[] }) {
  const { slug, title, description, permissions, refused } = applet;
  return (
    <li class="applet">
      <a data-row href={`/applets/${slug}/`}>
        {title ?? slug}
      </a>
      <p>{description}</p>
      <p class="soft">{permissions.join(', ') || 'no permissions'}</p>
      {refused.length > 0 && <p class="warn">{toReason(slug, refused, shells)}</p>}
    </li>
  );
}

function toReason(slug: string, refused: readonly string[], shells: readonly string[]): string {
  if (slug !== 'terminal') return `Not allowed by SHELL_ALLOWLIST: ${refused.join(', ')}.`;
  const state = shells.length === 0 ? 'Off' : `Off for ${refused.join(', ')}`;
  return `${state}. Start the server with NACRE_TERMINAL_SHELLS=${refused.join(',')} to turn it on. This page can then do everything that you can, and no policy applies to what is typed.`;
}

function Links() {
  const [name, setName] = useState('');
  const [link, setLink] = useState('');
  const [failure, setFailure] = useState('');
  const make = async (role: 'viewer' | 'operator') => {
    try {
      const reply = await postJson<{ link: string }>('/api/link', { role, name });
      setLink(reply.link);
      setFailure('');
    } catch (error) {
      setFailure(error instanceof ApiError ? error.message : 'The server does not reply.');
    }
  };
  return (
    <section class="card part" aria-labelledby="links-title">
      <h2 id="links-title">Links to this console</h2>
      <p class="soft">A link works once, within ten minutes. A viewer's page can only look.</p>
      <div class="link-form">
        <label class="note">
          <span class="sr">Name of the page</span>
          <input
            type="text"
            maxLength={40}
            placeholder="Name, such as phone"
            value={name}
            disabled={!mayAct.value}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </label>
        <button class="btn" type="button" disabled={!mayAct.value} onClick={() => void make('viewer')}>
          Link to look
        </button>
        <button class="btn" type="button" disabled={!mayAct.value} onClick={() => void make('operator')}>
          Link to act
        </button>
      </div>
      {!mayAct.value && <p class="fine">This page may only look.</p>}
      {link !== '' && (
        <p class="made">
          <code>{link}</code>
        </p>
      )}
      {failure !== '' && (
        <p class="bad" role="alert">
          {failure}
        </p>
      )}
    </section>
  );
}
