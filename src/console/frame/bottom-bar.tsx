import { useEffect, useState } from 'preact/hooks';
import { Icon } from '../parts/icon.tsx';
import { Sheet } from '../parts/sheet.tsx';
import { place } from '../router.ts';
import { waitingCount } from '../store.ts';
import { Health } from './health.tsx';
import { Pause } from './pause.tsx';
import { sections, toAddress } from './sections.ts';

const inSheet: ReadonlySet<string> = new Set(['audit', 'server']);

/** The links to the pages, on phones; the pages of `inSheet` and Pause are in the sheet More. */
export function BottomBar() {
  const [section = ''] = place.value.path;
  const [isOpen, setOpen] = useState(false);
  useEffect(() => setOpen(false), [place.value.full]);
  return (
    <nav class="tabs-bottom" aria-label="Console, small">
      {sections
        .filter(([path]) => !inSheet.has(path))
        .map(([path, label, icon]) => (
          <a key={path} href={toAddress(path)} aria-current={section === path ? 'page' : undefined}>
            <Icon name={icon} />
            {path === 'approvals' ? 'Needs you' : label}
            {path === 'approvals' && waitingCount.value > 0 && (
              <span class="count needs">{waitingCount.value}</span>
            )}
          </a>
        ))}
      <button
        type="button"
        aria-haspopup="dialog"
        aria-current={inSheet.has(section) ? 'true' : undefined}
        onClick={() => setOpen(true)}
      >
        <Icon name="more" />
        More
      </button>
      {isOpen && (
        <Sheet title="More" onClose={() => setOpen(false)}>
          <ul class="sheet-links">
            {sections
              .filter(([path]) => inSheet.has(path))
              .map(([path, label, icon]) => (
                <li key={path}>
                  <a href={`/${path}`} aria-current={section === path ? 'page' : undefined}>
                    <Icon name={icon} />
                    {label}
                  </a>
                </li>
              ))}
          </ul>
          <Health />
          <Pause />
        </Sheet>
      )}
    </nav>
  );
}
