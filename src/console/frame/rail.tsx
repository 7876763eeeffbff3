import { Icon, Logo } from '../parts/icon.tsx';
import { place } from '../router.ts';
import { now, runningCount, waitingCount } from '../store.ts';
import { Health } from './health.tsx';
import { Pause } from './pause.tsx';
import { sections, toAddress } from './sections.ts';

/** The pages, the state of the servers, and Pause. */
export function Rail() {
  const [section = ''] = place.value.path;
  return (
    <nav class="rail" aria-label="Console">
      <a class="brand" href="/" aria-label="nacre, now">
        <Logo />
        <span>nacre</span>
      </a>
      <ul>
        {sections.map(([path, label, icon]) => {
          const badge = toBadge(path);
          return (
            <li key={path} class={path === 'audit' ? 'gap' : ''}>
              <a href={toAddress(path)} aria-current={section === path ? 'page' : undefined} title={label}>
                <Icon name={icon} />
                <span class="label">{label}</span>
                {badge > 0 && <span class={`count${path === 'approvals' ? ' needs' : ''}`}>{badge}</span>}
              </a>
            </li>
          );
        })}
      </ul>
      <div class="foot">
        <Health />
        <Pause />
      </div>
    </nav>
  );
}

function toBadge(path: string): number {
  if (path === 'commands') return runningCount.value;
  if (path === 'agents') return now.value?.agents.filter(({ here }) => here).length ?? 0;
  return path === 'approvals' ? waitingCount.value : 0;
}
