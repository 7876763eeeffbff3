import { Icon } from '../parts/icon.tsx';
import { place } from '../router.ts';
import { waitingCount } from '../store.ts';
import { sections } from './sections.ts';

/** The pages, on phones. */
export function BottomBar() {
  const [section = ''] = place.value.path;
  return (
    <nav class="tabs-bottom" aria-label="Console, small">
      {sections.map(([path, label, icon]) => (
        <a key={path} href={`/${path}`} aria-current={section === path ? 'page' : undefined}>
          <Icon name={icon} />
          {path === 'approvals' ? 'Needs you' : label}
          {path === 'approvals' && waitingCount.value > 0 && (
            <span class="count needs">{waitingCount.value}</span>
          )}
        </a>
      ))}
    </nav>
  );
}
