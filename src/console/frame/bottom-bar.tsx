import { useEffect, useState } from 'preact/hooks';
import { Icon } from '../parts/icon.tsx';
import { Sheet } from '../parts/sheet.tsx';
import { place } from '../router.ts';
import { waitingCount } from '../store.ts';
import { Health } from './health.tsx';
import { Pause } from './pause.tsx';
import { SectionLink } from './section-link.tsx';
import { sections } from './sections.ts';

const sheetSections: ReadonlySet<string> = new Set(['audit', 'server']);

/** The links to the pages, on phones; those of `sheetSections` and Pause are in the sheet More. */
export function BottomBar() {
  const [section = ''] = place.value.path;
  const [isOpen, setOpen] = useState(false);
  useEffect(() => setOpen(false), [place.value.full]);
  return (
    <nav class="tabs-bottom" aria-label="Console, small">
      {sections
        .filter(([path]) => !sheetSections.has(path))
        .map((one) => (
          <SectionLink key={one[0]} section={one}>
            {one[0] === 'approvals' ? 'Needs you' : one[1]}
            {one[0] === 'approvals' && waitingCount.value > 0 && (
              <span class="count needs">{waitingCount.value}</span>
            )}
          </SectionLink>
        ))}
      <button
        type="button"
        aria-haspopup="dialog"
        aria-current={sheetSections.has(section) ? 'true' : undefined}
        onClick={() => setOpen(true)}
      >
        <Icon name="more" />
        More
      </button>
      {isOpen && (
        <Sheet title="More" onClose={() => setOpen(false)}>
          <ul class="sheet-links">
            {sections
              .filter(([path]) => sheetSections.has(path))
              .map((one) => (
                <li key={one[0]}>
                  <SectionLink section={one} />
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
