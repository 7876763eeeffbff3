import { go, setQuery } from '../router.ts';
import { Icon } from './icon.tsx';

/** A filter of a list: its query parameter, and the words for it. */
export interface ShownFilter {
  readonly name: string;
  readonly words: string;
}

/** The filters of a list, each with a button that removes it, and a button that removes them all. */
export function FilterChips({
  filters,
  page,
}: {
  readonly filters: readonly ShownFilter[];
  /** The address of the list without filters. */
  readonly page: string;
}) {
  if (filters.length === 0) return null;
  return (
    <ul class="chips" aria-label="Filters">
      {filters.map(({ name, words }) => (
        <li key={name}>
          <button class="chip" type="button" onClick={() => setQuery({ [name]: '' })}>
            {words}
            <span class="sr">, remove</span> <Icon name="close" />
          </button>
        </li>
      ))}
      <li>
        <button class="btn quiet" type="button" onClick={() => go(page)}>
          Clear
        </button>
      </li>
    </ul>
  );
}
