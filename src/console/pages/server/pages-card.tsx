import { request } from '../../api.ts';
import { notify } from '../../notify.ts';
import { clock, mayAct } from '../../store.ts';
import { useFetched } from '../../use-fetched.ts';
import { mayOnlyLook, toAgo, toName } from '../../words.ts';

interface PageRow {
  readonly id: string;
  readonly role: string;
  readonly name: string;
  readonly seen: string;
  readonly open: boolean;
  readonly own: boolean;
}

/** The pages that are signed in; an operator can sign one out. */
export function PagesCard() {
  const { data, reload } = useFetched<{ readonly pages: readonly PageRow[] }>('/api/pages');
  const end = async (page: PageRow) => {
    const reply = await request(`/api/pages/${page.id}`, { method: 'DELETE' }).catch(() => undefined);
    notify(reply?.ok ? `${nameOf(page)} is signed out.` : 'The server did not sign the page out.');
    reload();
  };
  return (
    <section class="card part" aria-labelledby="pages-title">
      <h2 id="pages-title">Open pages</h2>
      <ul class="plain-list pages-list">
        {(data?.pages ?? []).map((page) => (
          <li key={page.id}>
            <span class={`dot ${page.open ? 'ok' : 'off'}`} aria-hidden="true" />
            <b>
              {nameOf(page)}
              {page.own && ' (this one)'}
            </b>
            <span class="soft">
              {page.role === 'viewer' ? 'may look' : 'may act'},{' '}
              {page.open ? 'open now' : `last seen ${toAgo(page.seen, clock.value)}`}
            </span>
            {!page.own && (
              <button
                class="btn"
                type="button"
                disabled={!mayAct.value}
                title={mayAct.value ? undefined : mayOnlyLook}
                aria-label={`Sign out ${nameOf(page)}`}
                onClick={() => void end(page)}
              >
                Sign out
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function nameOf({ name }: PageRow): string {
  return toName(name, 'A page without a name');
}
