import { type ReadonlySignal, signal } from '@preact/signals';

function watch(query: string): ReadonlySignal<boolean> {
  const list = window.matchMedia(query);
  const matches = signal(list.matches);
  list.addEventListener('change', (event) => {
    matches.value = event.matches;
  });
  return matches;
}

/** Whether the window is at most 760 px wide, as on a phone. */
export const isNarrow = watch('(max-width: 760px)');
/** Whether the system uses dark colours. */
export const prefersDark = watch('(prefers-color-scheme: dark)');
