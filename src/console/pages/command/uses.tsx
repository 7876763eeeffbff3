import { useEffect } from 'preact/hooks';
import type { CommandCard } from '../../../contract/console.ts';
import { Spark } from '../../parts/spark.tsx';
import { clock } from '../../store.ts';
import { useFetched } from '../../use-fetched.ts';
import { toSize } from '../../words.ts';

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
  const share = card.duration_ms ? Math.round(((card.cpu_ms ?? 0) / card.duration_ms) * 100) : 0;
  const percent = isRunning ? (cpu.at(-1) ?? 0) : share;
  return (
    <section class="card part" aria-labelledby="use-title">
      <h2 id="use-title">{isRunning ? 'Uses now' : 'Used'}</h2>
      <div class="meters">
        <div class="meter">
          <span>CPU</span>
          {cpu.length > 0 ? <Spark values={cpu} label={`CPU, ${percent} percent`} /> : <span />}
          <b>{percent} %</b>
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
    </section>
  );
}
