import type { ServerReply } from './server-reply.ts';

/** The isolation that the machine enforces, and `gaps`, the requested isolation that it cannot enforce. */
export function MachineCard({ reply }: { readonly reply: ServerReply }) {
  const { supervision, sandbox, files, network, exec, fault, gaps } = reply.machine;
  return (
    <section class="card part" aria-labelledby="machine-title">
      <h2 id="machine-title">This machine</h2>
      <dl class="facts-list">
        {Object.entries({ supervision, sandbox, files, network, exec }).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {fault !== null && (
        <p class="warn">
          {fault.reason}. {fault.fix}
        </p>
      )}
      {fault === null && gaps.length === 0 && (
        <p class="fine">This machine can enforce all requested isolation.</p>
      )}
      {gaps.map((gap) => (
        <p class="warn" key={gap}>
          {gap}
        </p>
      ))}
      <p class="fine">
        <code>nacre doctor</code> also checks programs and clients, and makes a test call.
      </p>
    </section>
  );
}
