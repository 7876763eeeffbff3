import { notify } from './parts/toast.tsx';

/** Copies text and says `done`, or why it could not: browsers allow it on `https` and `localhost` only. */
export async function copyText(text: string, done: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    notify(done);
  } catch {
    notify('The browser does not allow this page to copy.');
  }
}
