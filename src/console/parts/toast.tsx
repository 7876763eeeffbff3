import { notice } from '../notify.ts';

/** The place where `notify` speaks. */
export function Toast() {
  return (
    <div class="toast" role="status" aria-live="polite">
      {notice.value !== '' && <p>{notice.value}</p>}
    </div>
  );
}
