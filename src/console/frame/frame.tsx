import { useEffect } from 'preact/hooks';
import { showsKeys } from '../keys.ts';
import { AgentPage, AgentsPage } from '../pages/agents.tsx';
import { ApprovalsPage } from '../pages/approvals.tsx';
import { AuditPage } from '../pages/audit.tsx';
import { CommandPage } from '../pages/command/command.tsx';
import { CommandsPage } from '../pages/commands.tsx';
import { NowPage } from '../pages/now.tsx';
import { ServerPage } from '../pages/server/server.tsx';
import { Toast } from '../parts/toast.tsx';
import { place } from '../router.ts';
import { isSignedOut, now, waitingCount } from '../store.ts';
import { BottomBar } from './bottom-bar.tsx';
import { Connection } from './connection.tsx';
import { Header } from './header.tsx';
import { KeyList } from './key-list.tsx';
import { QuestionSheet } from './question-sheet.tsx';
import { Rail } from './rail.tsx';
import { toPageTitle } from './sections.ts';
import { SignIn } from './sign-in.tsx';

/** The page frame: header, rail or bottom bar, and the current page. */
export function Frame() {
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
      <QuestionSheet />
      <BottomBar />
      <Toast />
      <p class="sr" aria-live="polite">
        {waitingCount.value > 0
          ? `${waitingCount.value} ${waitingCount.value === 1 ? 'needs' : 'need'} you`
          : ''}
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
