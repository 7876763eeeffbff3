import { choose, isDark } from '../choices.ts';
import { Icon } from '../parts/icon.tsx';
import { go, place } from '../router.ts';
import { agentOf, waitingCount } from '../store.ts';
import { toAgentName } from '../words.ts';
import { findCard, sections, toCrumb } from './sections.ts';

/**
 * The header: the current page, the command search, the number of approval requests and prompts that need a person, and
 * the theme.
 */
export function Header() {
  const [section = '', id] = place.value.path;
  const name = sections.find(([path]) => path === section)?.[1] ?? 'Now';
  return (
    <div class="top">
      {id !== undefined && (
        <a class="back icon-btn" href={`/${section}`} aria-label={`Back to ${name}`}>
          <Icon name="back" />
        </a>
      )}
      <nav class="crumbs" aria-label="Where you are">
        {id === undefined ? (
          <span aria-current="page">{name}</span>
        ) : (
          <>
            <a href={`/${section}`}>{name}</a>
            {section === 'commands' && <AgentCrumb id={id} />}
            <span aria-current="page">{toCrumb(section, id)}</span>
          </>
        )}
      </nav>
      <form
        class="anything"
        aria-label="Find a command"
        onSubmit={(event) => {
          event.preventDefault();
          const words = new FormData(event.currentTarget).get('words');
          go(`/commands?q=${encodeURIComponent(String(words ?? ''))}`);
        }}
      >
        <Icon name="search" />
        <label class="sr" for="anything">
          Find a command
        </label>
        <input id="anything" name="words" type="search" placeholder="Find a command" autocomplete="off" />
        <kbd>Ctrl K</kbd>
      </form>
      {waitingCount.value > 0 && (
        <a class="needs-you" href="/approvals">
          <span class="dot" aria-hidden="true" />
          {waitingCount.value} {waitingCount.value === 1 ? 'needs' : 'need'} you
        </a>
      )}
      <button
        class="icon-btn"
        type="button"
        aria-label={isDark.value ? 'Use the light theme' : 'Use the dark theme'}
        onClick={() => choose({ theme: isDark.value ? 'light' : 'dark' })}
      >
        <Icon name={isDark.value ? 'sun' : 'moon'} />
      </button>
    </div>
  );
}

// The agent of a command, between the list and the command.
function AgentCrumb({ id }: { readonly id: string }) {
  const agent = agentOf(findCard(id)?.agent ?? '');
  if (!agent) return null;
  return <a href={`/agents/${encodeURIComponent(agent.key)}`}>{toAgentName(agent)}</a>;
}
