import { useEffect } from 'preact/hooks';
import type { CommandCard } from '../../../contract/console.ts';
import { Spark } from '../../parts/spark.tsx';
import { clock } from '../../store.ts';
import { useFetched } from '../../use-fetched.ts';
import { toSize, toSpan } from '../../words.ts';

interface SeriesReply {
  readonly cpu: readonly number[];
  readonly memory: readonly number[];
}

/** The processor time and memory of a command. */
export function Uses({ card }: { readonly card: CommandCard }) {
  const isRunning = card.state === 'running';
  const { data, reload } = useFetched<SeriesReply>(`/api/series?command=${card.id}`);
  useEffect(() => {
    if (isRunning) reload();
  }, [isRunning && clock.value]);
  const cpu = data?.cpu.slice(-60) ?? [];
  const memory = data?.memory.slice(-60) ?? [];
  if (card.started_at === null) return null;
  const percent = `${cpu.at(-1) ?? 0} %`;
  // A share of a few milliseconds says nothing, so an ended command shows the time.
  const time = card.cpu_ms === null ? '–' : toSpan(card.cpu_ms);
  const written = card.stdout_bytes + card.stderr_bytes;
  return (
    <section class="card part" aria-labelledby="use-title">
      <h2 id="use-title">{isRunning ? 'Uses now' : 'Used'}</h2>
      <div class="meters">
        <div class="meter">
          <span>CPU</span>
          {cpu.length > 0 ? <Spark values={cpu} label={`CPU, ${isRunning ? percent : time}`} /> : <span />}
          <b>{isRunning ? percent : time}</b>
        </div>
        <div class="meter">
          <span>Memory</span>
          {memory.length > 0 ? (
            <Spark values={memory} label="Memory, highest so far" tone="accent" />
          ) : (
            <span />
          )}
          <b>{card.memory_bytes === null ? '–' : toSize(card.memory_bytes)}</b>
        </div>
      </div>
      <p class="fine used">
        <span>
          <b>{toSize(written)}</b> printed
        </span>
        <span>
          <b>{card.ports.length}</b> {card.ports.length === 1 ? 'port' : 'ports'}
        </span>
      </p>
    </section>
  );
}
