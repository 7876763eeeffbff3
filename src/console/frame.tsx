import { useEffect, useState } from 'preact/hooks';
import { ApiError, postJson } from './api.ts';
import { applyTheme, choices, choose } from './choices.ts';
import { keyList, showsKeys } from './keys.ts';
import { AgentPage, AgentsPage } from './pages/agents.tsx';
import { ApprovalsPage } from './pages/approvals.tsx';
import { AuditPage } from './pages/audit.tsx';
import { CommandPage } from './pages/command.tsx';
import { CommandsPage } from './pages/commands.tsx';
import { NowPage } from './pages/now.tsx';
import { ServerPage } from './pages/server/server.tsx';
import { Icon, Logo } from './parts/icon.tsx';
import { notify, Toast } from './parts/toast.tsx';
import { go, place } from './router.ts';
import { clock, isSignedOut, link, mayAct, now, waitingCount } from './store.ts';
import { toAgentName, toTitle } from './words.ts';

const sections = [
  ['', 'Now', 'now'],
  ['commands', 'Commands', 'commands'],
  ['agents', 'Agents', 'agents'],
  ['approvals', 'Approvals', 'approvals'],
  ['audit', 'Audit', 'audit'],
  ['server', 'Server', 'server'],
] as const;

/** The whole page. */
export function Frame() {
  useEffect(applyTheme, [choices.value.theme]);
  useEffect(() => {
    const count = waitingCount.value;
    document.title = `${count > 0 ? `(${count}) ` : ''}${toPageTitle()} · nacre`;
  }, [waitingCount.value, place.value, now.value === undefined]);
  if (isSignedOut.value) return <SignIn />;
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <Rail />
      <div class="page">
        <header class="head">
          <Header />
          <Connection />
        </header>
        <main id="main" tabIndex={-1}>
          <CurrentPage />
        </main>
      </div>
      <BottomBar />
      <Toast />
      <p class="sr" aria-live="polite">
        {waitingCount.value > 0 ? `${waitingCount.value} need you` : ''}
      </p>
      {showsKeys.value && <KeyList />}
    </>
  );
}

function CurrentPage() {
  const [section = '', id] = place.value.path;
  if (section === '') return <NowPage />;
  if (section === 'commands') return id === undefined ? <CommandsPage /> : <CommandPage key={id} id={id} />;
  if (section === 'agents') return id === undefined ? <AgentsPage /> : <AgentPage key={id} id={id} />;
  if (section === 'approvals') return <ApprovalsPage />;
  return section === 'audit' ? <AuditPage /> : <ServerPage />;
}

function toPageTitle(): string {
  const [section = '', id] = place.value.path;
  const name = sections.find(([path]) => path === section)?.[1] ?? 'Now';
  return id === undefined ? name : `${toCrumb(section, id)} · ${name}`;
}

function toCrumb(section: string, id: string): string {
  if (section === 'agents') {
    const agent = now.value?.agents.find(({ key }) => key === id);
    return agent ? toAgentName(agent) : id;
  }
  const card = [...(now.value?.running ?? []), ...(now.value?.failed ?? [])].find((one) => one.id === id);
  return card ? toTitle(card.command) : id;
}

function toBadge(path: string): number {
  if (path === 'commands') return now.value?.running.length ?? 0;
  if (path === 'agents') return now.value?.agents.filter(({ here }) => here).length ?? 0;
  return path === 'approvals' ? waitingCount.value : 0;
}

function Rail() {
  const [section = ''] = place.value.path;
  const state = now.value;
  const problems = state?.servers.filter(({ problem }) => problem !== null).length ?? 0;
  const count = state?.servers.length ?? 0;
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
              <a href={`/${path}`} aria-current={section === path ? 'page' : undefined} title={label}>
                <Icon name={icon} />
                <span class="label">{label}</span>
                {badge > 0 && <span class={`count${path === 'approvals' ? ' needs' : ''}`}>{badge}</span>}
              </a>
            </li>
          );
        })}
      </ul>
      <div class="foot">
        <p class="health">
          <span class={`dot ${problems > 0 ? 'bad' : 'ok'}`} aria-hidden="true" />
          {count} {count === 1 ? 'server' : 'servers'},{' '}
          {problems === 0 ? 'all well' : `${problems} with a problem`}
        </p>
        <p class="fine">{state ? `${new URL(state.address).host} · ${state.version}` : ''}</p>
        <Pause />
      </div>
    </nav>
  );
}

function Pause() {
  const [asks, setAsks] = useState(false);
  const isPaused = now.value?.paused ?? false;
  const running = now.value?.running.length ?? 0;
  const act = async (paused: boolean) => {
    setAsks(false);
    try {
      await postJson('/api/pause', { paused });
      notify(paused ? 'Everything is paused.' : 'Commands run again.');
    } catch (error) {
      notify(error instanceof ApiError ? error.message : 'The server does not reply.');
    }
  };
  if (isPaused)
    return (
      <button class="btn wide" type="button" disabled={!mayAct.value} onClick={() => void act(false)}>
        <Icon name="play" />
        <span class="label">Resume</span>
      </button>
    );
  if (asks)
    return (
      <div class="confirm">
        <p>
          {running === 0
            ? 'New commands will be refused.'
            : `This ends ${running === 1 ? '1 command' : `${running} commands`} and refuses new ones.`}
        </p>
        <button class="btn danger wide" type="button" onClick={() => void act(true)}>
          Pause now
        </button>
        <button class="btn quiet wide" type="button" onClick={() => setAsks(false)}>
          Cancel
        </button>
      </div>
    );
  return (
    <button
      class="btn wide"
      type="button"
      disabled={!mayAct.value}
      title={mayAct.value ? 'Pause everything' : 'This page may only look.'}
      onClick={() => setAsks(true)}
    >
      <Icon name="pause" />
      <span class="label">Pause everything</span>
    </button>
  );
}

function Header() {
  const [section = '', id] = place.value.path;
  const name = sections.find(([path]) => path === section)?.[1] ?? 'Now';
  const isDark =
    choices.value.theme === 'dark' ||
    (choices.value.theme === 'system' && window.matchMedia('(prefers-color-scheme: dark)').matches);
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
        aria-label={isDark ? 'Use the light theme' : 'Use the dark theme'}
        onClick={() => choose({ theme: isDark ? 'light' : 'dark' })}
      >
        <Icon name={isDark ? 'sun' : 'moon'} />
      </button>
    </div>
  );
}

function Connection() {
  const { state, again } = link.value;
  const isPaused = now.value?.paused ?? false;
  const isViewer = now.value?.page.role === 'viewer';
  return (
    <>
      {state === 'lost' && (
        <p class="line lost" role="status">
          Connection lost, again in {Math.max(0, Math.ceil((again - clock.value) / 1_000))} s. What is shown
          may be old.
        </p>
      )}
      {isPaused && (
        <p class="line paused" role="status">
          Everything is paused: commands are refused until you resume.
        </p>
      )}
      {isViewer && <p class="line viewer">This page may only look.</p>}
    </>
  );
}

function BottomBar() {
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

function openDialog(element: HTMLDialogElement | null): void {
  if (element && !element.open) element.showModal();
}

function KeyList() {
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

function SignIn() {
  return (
    <main class="sign-in" id="main">
      <Logo />
      <h1>Open this page with its link</h1>
      <p>
        <code>nacre serve</code> prints a link when it starts. The link works once. To get another one, run{' '}
        <code>nacre open</code>, or send your token as <code>Authorization: Bearer TOKEN</code> to{' '}
        <code>POST /api/link</code>.
      </p>
      <p>
        <a href="/docs">API</a>
      </p>
    </main>
  );
}
