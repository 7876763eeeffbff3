import { keyList, showsKeys } from '../keys.ts';

function openDialog(element: HTMLDialogElement | null): void {
  if (element && !element.open) element.showModal();
}

/** Every key, in a dialog. */
export function KeyList() {
  const close = () => {
    showsKeys.value = false;
  };
  return (
    <dialog class="keys card" aria-labelledby="keys-title" ref={openDialog} onClose={close} onCancel={close}>
      <h2 id="keys-title">Keys</h2>
      <dl>
        {keyList.map(([key, words]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
      <button class="btn" type="button" onClick={close}>
        Close
      </button>
    </dialog>
  );
}
