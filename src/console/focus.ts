/** Moves the focus to the content of the page, because the focused element is about to disappear. */
export function focusMain(): void {
  document.getElementById('main')?.focus({ preventScroll: true });
}
