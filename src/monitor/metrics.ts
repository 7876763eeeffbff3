// Metrics about commands for `/metrics`, counted from audit records, in the Prometheus text format.
import type { AuditRecord } from '../audit/read-records.ts';
import type { Resources } from '../contract/limits.ts';

/** Current values, read at each request for `/metrics`. */
export interface Gauges {
  /** Calls that wait for a persistent shell. */
  readonly queue: number;
  /** Bytes of spooled output on disk. */
  readonly spoolBytes: number;
}

/** Counters over audit records. */
export interface Metrics {
  observe(record: AuditRecord): void;
  /** The metrics as text; without `gauges`, only those that are counted from records. */
  toText(gauges?: Gauges | undefined): string;
}

const bucketSeconds = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 1_800];
// Each program name is a time series in Prometheus, so names that an agent invents must not grow without bound.
const mostPrograms = 100;

/** Creates counters that start at 0. */
export function createMetrics(): Metrics {
  const commands = new Map<string, number>();
  const refusals = new Map<string, number>();
  const bytes = new Map<string, number>([
    ['stdout', 0],
    ['stderr', 0],
  ]);
  const programs = new Set<string>();
  const known = new Map<string, { program: string; rule: string; runs: boolean }>();
  const durations = { buckets: bucketSeconds.map(() => 0), sum: 0, count: 0 };
  let restarts = 0;
  const usage = createUsage();

  const toProgram = (names: unknown) => {
    const [first = 'none'] = Array.isArray(names) ? names.map(String) : [];
    const name = first.slice(first.lastIndexOf('/') + 1);
    if (programs.size < mostPrograms) programs.add(name);
    return programs.has(name) ? name : 'other';
  };
  const count = (record: AuditRecord, outcome: string) => {
    const { program = 'none' } = known.get(record.id) ?? {};
    add(commands, labels({ outcome, program, door: record.door }), 1);
    known.delete(record.id);
  };
  const finish = (record: AuditRecord) => {
    const seconds = Number(record.duration_ms) / 1_000;
    bucketSeconds.forEach((most, index) => {
      if (seconds <= most) durations.buckets[index] = (durations.buckets[index] ?? 0) + 1;
    });
    durations.sum += seconds;
    durations.count += 1;
    for (const stream of ['stdout', 'stderr']) add(bytes, stream, Number(record[`${stream}_bytes`]));
    if (record.shell_restored === true) restarts += 1;
    usage.add((record.resources ?? {}) as Partial<Resources>);
    count(record, String(record.status));
  };

  return {
    observe(record) {
      const { kind, id } = record;
      if (kind === 'decided')
        known.set(id, { program: toProgram(record.programs), rule: String(record.rule), runs: false });
      if (kind === 'started') known.set(id, { program: 'none', rule: '', ...known.get(id), runs: true });
      if (kind === 'refused') add(refusals, labels({ rule: known.get(id)?.rule ?? String(record.code) }), 1);
      if (kind === 'refused' || kind === 'failed' || kind === 'skipped') count(record, kind);
      if (kind === 'finished') finish(record);
    },
    toText(gauges) {
      const running = [...known.values()].filter(({ runs }) => runs).length;
      return [
        family('nacre_commands_total', 'counter', 'Commands by outcome, first program and door.', commands),
        family('nacre_refusals_total', 'counter', 'Commands that were refused, by rule.', refusals),
        histogram('nacre_command_duration_seconds', 'Run time of commands.', durations),
        family(
          'nacre_output_bytes_total',
          'counter',
          'Bytes of output that commands wrote.',
          new Map([...bytes].map(([stream, value]) => [labels({ stream }), value])),
        ),
        ...usage.toFamilies(),
        family('nacre_running', 'gauge', 'Commands that are running now.', new Map([['', running]])),
        gauges ? toGaugeText(gauges) : '',
        family(
          'nacre_shell_restarts_total',
          'counter',
          'Persistent shells that were restarted.',
          new Map([['', restarts]]),
        ),
      ].join('');
    },
  };
}

function toGaugeText({ queue, spoolBytes }: Gauges): string {
  return [
    family('nacre_queue', 'gauge', 'Calls that wait for a persistent shell.', new Map([['', queue]])),
    family('nacre_spool_bytes', 'gauge', 'Bytes of output on disk.', new Map([['', spoolBytes]])),
  ].join('');
}

/** The CPU time and memory of ended commands. */
function createUsage() {
  let cpuMs = 0;
  let peakMemoryBytes = 0;
  return {
    add(used: Partial<Resources>) {
      cpuMs += used.cpuMs ?? 0;
      peakMemoryBytes = Math.max(peakMemoryBytes, used.peakMemoryBytes ?? 0);
    },
    toFamilies: () => [
      family(
        'nacre_command_cpu_seconds_total',
        'counter',
        'CPU time of ended commands with all their processes.',
        new Map([['', cpuMs / 1_000]]),
      ),
      family(
        'nacre_command_peak_memory_bytes',
        'gauge',
        'Highest memory of one ended command with all its processes.',
        new Map([['', peakMemoryBytes]]),
      ),
    ],
  };
}

function add(counts: Map<string, number>, name: string, amount: number): void {
  counts.set(name, (counts.get(name) ?? 0) + amount);
}

function labels(values: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(values).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return `{${pairs.join(',')}}`;
}

function escapeLabel(value: string): string {
  return value.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n');
}

function head(name: string, type: string, help: string): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
}

function family(name: string, type: string, help: string, values: ReadonlyMap<string, number>): string {
  return `${head(name, type, help)}${[...values].map(([label, value]) => `${name}${label} ${value}\n`).join('')}`;
}

function histogram(
  name: string,
  help: string,
  { buckets, sum, count }: { buckets: readonly number[]; sum: number; count: number },
): string {
  const lines = bucketSeconds.map((most, index) => `${name}_bucket{le="${most}"} ${buckets[index]}\n`);
  return `${head(name, 'histogram', help)}${lines.join('')}${name}_bucket{le="+Inf"} ${count}\n${name}_sum ${sum}\n${name}_count ${count}\n`;
}
