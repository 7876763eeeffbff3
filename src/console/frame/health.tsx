import { now } from '../store.ts';

/** The number of servers and of those with a problem, with the address and version of this server. */
export function Health() {
  const state = now.value;
  const count = state?.servers.length ?? 0;
  const problems = state?.servers.filter(({ problem }) => problem !== null).length ?? 0;
  return (
    <>
      <p class="health">
        <span class={`dot ${problems > 0 ? 'bad' : 'ok'}`} aria-hidden="true" />
        {count} {count === 1 ? 'server' : 'servers'},{' '}
        {problems === 0 ? 'all well' : `${problems} with a problem`}
      </p>
      <p class="fine">{state ? `${new URL(state.address).host} · ${state.version}` : ''}</p>
    </>
  );
}
