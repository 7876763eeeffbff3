import { now } from '../../store.ts';
import { toPath } from '../../words.ts';
import type { ServerReply } from './server-reply.ts';

/** The isolation that the machine can enforce, and the folders that nacre uses. */
export function MachineCard({ reply }: { readonly reply: ServerReply }) {
  const { supervision, sandbox, network, gaps } = reply.machine;
  const home = now.value?.home ?? '';
  return (
    <section class="card part" aria-labelledby="machine-title">
      <h2 id="machine-title">This machine</h2>
      <dl class="facts-list">
        {Object.entries({ supervision, sandbox, network }).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
        {Object.entries(reply.places).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <code>{toPath(value, home)}</code>
            </dd>
          </div>
        ))}
      </dl>
      {gaps.map((gap) => (
        <p class="warn" key={gap}>
          {gap}
        </p>
      ))}
    </section>
  );
}
