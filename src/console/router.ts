// Routes of the console. Every link is a plain link; a click on a link to the console changes the page without a
// reload.
import { signal } from '@preact/signals';

/** The current address. */
export interface Location {
  readonly path: readonly string[];
  readonly query: URLSearchParams;
  readonly full: string;
}

// A part that is no valid encoding stays as it is; no page has this name.
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function here(): Location {
  const { pathname, search } = window.location;
  const path = pathname
    .split('/')
    .filter((part) => part !== '')
    .map(decode);
  return { path, query: new URLSearchParams(search), full: pathname + search };
}

/** The current address. */
export const place = signal<Location>(here());

/** Navigates to an address of the console. */
export function go(address: string, replaces = false): void {
  if (address === place.value.full) return;
  if (replaces) history.replaceState({ depth: depth() }, '', address);
  else history.pushState({ depth: depth() + 1 }, '', address);
  const before = place.value.path.join('/');
  place.value = here();
  if (before !== place.value.path.join('/')) window.scrollTo(0, 0);
}

// How many pages of the console are behind this one in the history of the tab.
function depth(): number {
  const { depth: known = 0 } = (history.state ?? {}) as { readonly depth?: number };
  return known;
}

/**
 * Goes back to the previous page, or from the first page to the list above it, so that the user stays in the console.
 */
export function goBack(): void {
  const [section = '', id] = place.value.path;
  if (depth() > 0) history.back();
  else go(id === undefined ? '/' : `/${section}`);
}

/** Changes parts of the query; an empty value removes one. */
export function setQuery(changes: Readonly<Record<string, string>>): void {
  const query = new URLSearchParams(window.location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === '') query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  go(`${window.location.pathname}${text === '' ? '' : `?${text}`}`, true);
}

const ownPages = /^\/(?:$|commands|agents|approvals|audit|server)(?:\/|$)?/;

/** Makes links of the console change the page in place. */
export function followLinks(): void {
  window.addEventListener('popstate', () => {
    place.value = here();
  });
  document.addEventListener('click', (event) => {
    const link = (event.target as Element | null)?.closest('a');
    if (
      !link ||
      event.defaultPrevented ||
      event.button !== 0 ||
      link.target !== '' ||
      link.hasAttribute('download')
    )
      return;
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const { origin, pathname, search, hash } = new URL(link.href);
    if (origin !== window.location.origin || !ownPages.test(pathname) || hash !== '') return;
    event.preventDefault();
    go(pathname + search);
  });
}
