import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { isNarrow } from '../screen.ts';
import { Icon } from './icon.tsx';

/** A search field with further filters beside it; on phones the button Filters shows and hides them. */
export function FilterForm({
  label,
  words,
  onWords,
  isFiltered,
  children,
}: {
  readonly label: string;
  readonly words: string;
  readonly onWords: (words: string) => void;
  readonly isFiltered: boolean;
  readonly children: ComponentChildren;
}) {
  const [isOpen, setOpen] = useState(isFiltered);
  // The page renders again when a command starts or ends; text that the user has typed by then must stay.
  const [typed, setTyped] = useState(words);
  useEffect(() => setTyped(words), [words]);
  return (
    <form class="filters" onSubmit={(event) => event.preventDefault()}>
      <label class="field">
        <Icon name="search" />
        <span class="sr">{label}</span>
        <input
          type="search"
          placeholder={label}
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
          onChange={(event) => {
            // Typed filters move into the address, so the field keeps only the words that remain.
            setTyped(words);
            onWords(event.currentTarget.value);
          }}
        />
      </label>
      {isNarrow.value && (
        <button class="btn" type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          Filters
        </button>
      )}
      {(isOpen || !isNarrow.value) && children}
    </form>
  );
}
