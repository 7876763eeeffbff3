import { signal } from '@preact/signals';

/** The sentence that is shown; empty if there is none. */
export const notice = signal('');
let timer: ReturnType<typeof setTimeout> | undefined;

/** Shows a sentence for a few seconds; screen readers read it aloud. */
export function notify(text: string): void {
  notice.value = text;
  clearTimeout(timer);
  timer = setTimeout(() => {
    notice.value = '';
  }, 4_000);
}

/** Copies text and says `done`, or why it could not: browsers allow it on `https` and `localhost` only. */
export async function copyText(text: string, done: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    notify(done);
  } catch {
    notify('The browser does not allow this page to copy.');
  }
}
