// The user's preferences, stored in the browser.
import { computed, signal } from '@preact/signals';
import { isNarrow, prefersDark } from './screen.ts';

interface Choices {
  readonly theme: 'system' | 'light' | 'dark';
  readonly wrap: boolean | null;
  readonly times: 'off' | 'since' | 'clock';
  readonly letters: boolean;
  readonly speaks: boolean;
  readonly notifies: boolean;
  /** The query of the page Commands, without words and agents. */
  readonly filters: string;
}

const key = 'nacre-console';
const usual: Choices = {
  theme: 'system',
  wrap: null,
  times: 'since',
  letters: true,
  speaks: false,
  notifies: false,
  filters: '',
};

function read(): Choices {
  try {
    return { ...usual, ...(JSON.parse(localStorage.getItem(key) ?? '{}') as Partial<Choices>) };
  } catch {
    return usual;
  }
}

/** The user's preferences. */
export const choices = signal<Choices>(read());

/** Changes a preference and stores it. */
export function choose(change: Partial<Choices>): void {
  choices.value = { ...choices.value, ...change };
  try {
    localStorage.setItem(key, JSON.stringify(choices.value));
  } catch {}
}

/** Whether the page is dark: the stored preference or, by default, the system's. */
export const isDark = computed(() =>
  choices.value.theme === 'system' ? prefersDark.value : choices.value.theme === 'dark',
);

/** Applies the theme to the document. */
export function applyTheme(): void {
  const { theme } = choices.value;
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

/** Whether lines are wrapped: the stored preference or, by default, only on narrow screens. */
export function wrapsLines(): boolean {
  return choices.value.wrap ?? isNarrow.value;
}
