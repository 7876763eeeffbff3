import { Logo } from '../parts/icon.tsx';
import { now, runningCount, waitingCount } from '../store.ts';
import { Health } from './health.tsx';
import { Pause } from './pause.tsx';
import { SectionLink } from './section-link.tsx';
import { sections } from './sections.ts';

/** The pages, the state of the servers, and Pause. */
export function Rail() {
  return (
    <nav class="rail" aria-label="Console">
      <a class="brand" href="/" aria-label="nacre, now">
        <Logo />
        <span>nacre</span>
      </a>
      <ul>
        {sections.map((section) => {
          const [path, label] = section;
          const badge = toBadge(path);
          return (
            <li key={path} class={path === 'audit' ? 'gap' : ''}>
              <SectionLink section={section} title={label}>
                <span class="label">{label}</span>
                {badge > 0 && <span class={`count${path === 'approvals' ? ' needs' : ''}`}>{badge}</span>}
              </SectionLink>
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
