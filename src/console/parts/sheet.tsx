import type { ComponentChildren } from 'preact';
import { Icon } from './icon.tsx';

function openDialog(element: HTMLDialogElement | null): void {
  if (element && !element.open) element.showModal();
}

/** A dialog over the lower part of a narrow screen; Escape or a tap outside closes it. */
export function Sheet({
  title,
  onClose,
  children,
}: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog
    <dialog
      class="sheet"
      aria-labelledby="sheet-title"
      ref={openDialog}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === event.currentTarget) onClose();
      }}
    >
      <header>
        <h2 id="sheet-title">{title}</h2>
        <button class="icon-btn" type="button" aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      <div class="sheet-body">{children}</div>
    </dialog>
  );
}
