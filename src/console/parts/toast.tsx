import { notice } from '../notify.ts';

/** Shows the sentences of `notify`. */
export function Toast() {
  return (
    <div class="toast" role="status" aria-live="polite">
      {notice.value !== '' && <p>{notice.value}</p>}
    </div>
  );
}
