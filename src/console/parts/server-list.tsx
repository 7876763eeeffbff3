import type { ServerCard } from '../../contract/console.ts';
import { clock, now } from '../store.ts';
import { isBlank, toName, toPath, toSpan } from '../words.ts';
import { showOdd } from '../worker/visible-text.ts';

/** The running servers of the user, in a short or a detailed form. */
export function ServerList({
  servers,
  isShort = false,
}: {
  readonly servers: readonly ServerCard[];
  readonly isShort?: boolean;
}) {
  return (
    <ul class="plain-list">
      {servers.map((server) => (
        <li key={server.instance}>
          <span class={`dot ${server.problem === null ? 'ok' : 'bad'}`} aria-hidden="true" />
          <b>
            {server.address ??
              toName(server.clients.filter((client) => !isBlank(client)).join(', '), server.door)}
            {server.own && !isShort && ' (this one)'}
          </b>
          <span class="soft">{isShort ? toPlace(server) : toDetails(server)}</span>
          {server.problem !== null && <span class="bad">{showOdd(server.problem)}</span>}
        </li>
      ))}
    </ul>
  );
}

function toPlace({ pid, cwd }: ServerCard): string {
  return `pid ${pid} in ${toPath(cwd, now.value?.home ?? '')}`;
}

function toDetails(server: ServerCard): string {
  const { pid, version, running, since, sandbox, cwd } = server;
  const age = toSpan(Math.max(0, clock.value - Date.parse(since)));
  const place = toPath(cwd, now.value?.home ?? '');
  return `pid ${pid}, version ${showOdd(version)}, ${running} running, for ${age}, sandbox ${sandbox ?? 'unknown'}, in ${place}`;
}
