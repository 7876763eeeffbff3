import { signal } from '@preact/signals';

const words = signal('');
let timer: ReturnType<typeof setTimeout> | undefined;

/** Says something for a few seconds, aloud as well. */
export function notify(text: string): void {
  words.value = text;
  clearTimeout(timer);
  timer = setTimeout(() => {
    words.value = '';
  }, 4_000);
}

/** The place where `notify` speaks. */
export function Toast() {
  return (
    <div class="toast" role="status" aria-live="polite">
      {words.value !== '' && <p>{words.value}</p>}
    </div>
  );
}
