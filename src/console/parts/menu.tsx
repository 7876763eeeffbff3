import { useRef } from 'preact/hooks';
import { Icon, type IconName } from './icon.tsx';

/** A button that opens a short list of actions; Escape, an action, or a click elsewhere closes it. */
export function Menu({
  icon,
  label,
  items,
}: {
  readonly icon: IconName;
  readonly label: string;
  readonly items: readonly (readonly [string, () => void])[];
}) {
  const menu = useRef<HTMLDetailsElement>(null);
  const close = () => {
    if (menu.current) menu.current.open = false;
  };
  return (
    <details
      class="menu"
      ref={menu}
      onFocusOut={({ relatedTarget }) => {
        if (!menu.current?.contains(relatedTarget as Node | null)) close();
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !menu.current?.open) return;
        event.preventDefault();
        close();
        menu.current.querySelector('summary')?.focus();
      }}
    >
      <summary class="icon-btn" aria-label={label} title={label}>
        <Icon name={icon} />
      </summary>
      <ul class="card">
        {items.map(([words, act]) => (
          <li key={words}>
            <button
              class="btn quiet"
              type="button"
              onClick={() => {
                close();
                act();
              }}
            >
              {words}
            </button>
          </li>
        ))}
      </ul>
    </details>
  );
}
