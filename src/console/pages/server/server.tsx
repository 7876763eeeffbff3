import { ServerList } from '../../parts/server-list.tsx';
import { Spark } from '../../parts/spark.tsx';
import { Failure, Loading } from '../../parts/states.tsx';
import { now, runningCount } from '../../store.ts';
import { useFetched } from '../../use-fetched.ts';
import { toCount } from '../../words.ts';
import { AppletsCard } from './applets-card.tsx';
import { LinksCard } from './links-card.tsx';
import { MachineCard } from './machine-card.tsx';
import { PagesCard } from './pages-card.tsx';
import { ReaderCard } from './reader-card.tsx';
import type { ServerReply } from './server-reply.ts';
import { SettingsCard } from './settings-card.tsx';
import { StorageCard } from './storage-card.tsx';

/** The page Server: figures, storage, settings, pages, links and applets. */
export function ServerPage() {
  const { data, error, reload } = useFetched<ServerReply>('/api/server');
  if (error) return <Failure error={error} onRetry={reload} isPage />;
  if (!data) return <Loading page="Server" />;
  return (
    <div class="columns">
      <h1 class="sr">Server</h1>
      <div class="column">
        <AppletsCard reply={data} />
        <section class="card part" aria-labelledby="all-servers">
          <h2 id="all-servers">Servers of this user</h2>
          <ServerList servers={now.value?.servers ?? data.servers} />
        </section>
        <SettingsCard settings={data.settings} />
      </div>
      <div class="column">
        <Figures reply={data} />
        <PagesCard />
        <LinksCard />
        <StorageCard reply={data} />
        <MachineCard reply={data} />
        <ReaderCard />
      </div>
    </div>
  );
}

function Figures({ reply }: { readonly reply: ServerReply }) {
  const { data } = useFetched<{ readonly running: readonly number[]; readonly cpu: readonly number[] }>(
    '/api/series',
  );
  return (
    <section class="card part" aria-labelledby="figures-title">
      <h2 id="figures-title">Figures</h2>
      <div class="meters">
        <div class="meter">
          <span>Running</span>
          <Spark values={data?.running ?? []} label="Running commands over two hours" />
          <b>{runningCount.value}</b>
        </div>
        <div class="meter">
          <span>CPU</span>
          <Spark values={data?.cpu ?? []} label="CPU of commands over two hours" tone="accent" />
          <b>{data?.cpu.at(-1) ?? 0} %</b>
        </div>
      </div>
      <p class="fine">
        {toCount(reply.total)} commands known · version {reply.version} · <a href="/docs">API</a>
      </p>
    </section>
  );
}
