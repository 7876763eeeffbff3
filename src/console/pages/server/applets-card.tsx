import { toName } from '../../words.ts';
import { showOdd } from '../../worker/visible-text.ts';
import type { AppletRow, ServerReply } from './server-reply.ts';

/** The applets, each a link, with what they may run. */
export function AppletsCard({ reply }: { readonly reply: ServerReply }) {
  const { applets, problems, terminal_shells: shells } = reply;
  return (
    <section class="card part" aria-labelledby="applets-title">
      <h2 id="applets-title">Applets</h2>
      {applets.length === 0 ? (
        <p class="soft">
          No applets. Set their folder with <code>--applets-dir</code>.
        </p>
      ) : (
        <ul class="applets">
          {applets.map((applet) => (
            <Applet key={applet.slug} applet={applet} shells={shells} />
          ))}
        </ul>
      )}
      {problems.map((problem) => (
        <p class="bad" key={problem}>
          {showOdd(problem)}
        </p>
      ))}
    </section>
  );
}

function Applet({ applet, shells }: { readonly applet: AppletRow; readonly shells: readonly string[] }) {
  const { slug, title, description, permissions, refused } = applet;
  return (
    <li class="applet">
      <a data-row href={`/applets/${slug}/`}>
        {toName(title ?? '', slug)}
      </a>
      <p>{showOdd(description ?? '')}</p>
      <p class="soft">{showOdd(permissions.join(', ')) || 'no permissions'}</p>
      {refused.length > 0 && <p class="warn">{toReason(slug, refused, shells)}</p>}
    </li>
  );
}

function toReason(slug: string, refused: readonly string[], shells: readonly string[]): string {
  if (slug !== 'terminal') return `Not allowed by SHELL_ALLOWLIST: ${refused.join(', ')}.`;
  const state = shells.length === 0 ? 'Off' : `Off for ${refused.join(', ')}`;
  return `${state}. Start the server with NACRE_TERMINAL_SHELLS=${refused.join(',')} to turn it on. This page can then do everything that you can, and no policy applies to what is typed.`;
}
