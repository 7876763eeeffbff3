import { signal } from '@preact/signals';

const narrow = window.matchMedia('(max-width: 760px)');

/** Whether the window is at most 760 px wide, as on a phone. */
export const isNarrow = signal(narrow.matches);

narrow.addEventListener('change', ({ matches }) => {
  isNarrow.value = matches;
});
