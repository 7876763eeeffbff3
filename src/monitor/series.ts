/** A bounded series of figures, one per step; the oldest are dropped. */
export interface Series {
  push(value: number): void;
  values(): readonly number[];
}

/** Creates a series of at most `capacity` figures. */
export function createSeries(capacity: number): Series {
  const values: number[] = [];
  return {
    push(value) {
      values.push(value);
      if (values.length > capacity) values.shift();
    },
    values: () => [...values],
  };
}

/** The resources that a command has used so far. */
export interface UsedSoFar {
  readonly cpuMs: number | null;
  readonly memoryBytes: number | null;
}

/** The figures of one command: CPU in percent of one core, and memory in bytes, one per second. */
export interface CommandSeries {
  readonly cpu: readonly number[];
  readonly memory: readonly number[];
}

/** Figures of commands over time, and of the server as a whole. */
export interface UsageSeries {
  /** Adds a sample of every running command; those that are left out have ended. Returns the ids whose CPU percentage changed. */
  sample(used: ReadonlyMap<string, UsedSoFar>): readonly string[];
  /** The newest CPU percentage of a command; null before its second sample. */
  cpuPercent(id: string): number | null;
  /** The last CPU percentages of a command, enough for a small chart. */
  recentCpu(id: string): readonly number[];
  of(id: string): CommandSeries;
  /** Running commands and their CPU together, every 10 s. */
  whole(): { readonly running: readonly number[]; readonly cpu: readonly number[] };
}

const commandCapacity = 600;
const serverCapacity = 720;
const serverEveryMs = 10_000;
const recentSamples = 20;
// The number of commands whose figures are kept; beyond it, those of the oldest ended commands are dropped.
const maxCommands = 500;

interface Entry {
  readonly cpu: Series;
  readonly memory: Series;
  last: { readonly at: number; readonly cpuMs: number } | undefined;
  percent: number | null;
}

/** Creates empty series. */
export function createUsageSeries(now: () => number = () => performance.now()): UsageSeries {
  const commands = new Map<string, Entry>();
  const running = createSeries(serverCapacity);
  const cpu = createSeries(serverCapacity);
  let wholeAt = Number.NEGATIVE_INFINITY;
  const entryOf = (id: string): Entry => {
    const known = commands.get(id);
    if (known) return known;
    const made: Entry = {
      cpu: createSeries(commandCapacity),
      memory: createSeries(commandCapacity),
      last: undefined,
      percent: null,
    };
    commands.set(id, made);
    const [oldest] = commands.keys();
    if (commands.size > maxCommands && oldest !== undefined) commands.delete(oldest);
    return made;
  };
  const sampleOne = (id: string, { cpuMs, memoryBytes }: UsedSoFar): number => {
    const entry = entryOf(id);
    const at = now();
    const measured = cpuMs === null || entry.last === undefined ? null : toPercent(entry.last, cpuMs, at);
    const percent = measured ?? 0;
    entry.percent = measured;
    if (cpuMs !== null) entry.last = { at, cpuMs };
    entry.cpu.push(percent);
    entry.memory.push(memoryBytes ?? 0);
    return percent;
  };
  return {
    sample(used) {
      const changed: string[] = [];
      let whole = 0;
      for (const [id, one] of used) {
        const before = commands.get(id)?.percent ?? null;
        whole += sampleOne(id, one);
        if (commands.get(id)?.percent !== before) changed.push(id);
      }
      if (now() - wholeAt >= serverEveryMs) {
        wholeAt = now();
        running.push(used.size);
        cpu.push(whole);
      }
      return changed;
    },
    cpuPercent: (id) => commands.get(id)?.percent ?? null,
    recentCpu: (id) => commands.get(id)?.cpu.values().slice(-recentSamples) ?? [],
    of(id) {
      const entry = commands.get(id);
      return { cpu: entry?.cpu.values() ?? [], memory: entry?.memory.values() ?? [] };
    },
    whole: () => ({ running: running.values(), cpu: cpu.values() }),
  };
}

function toPercent(last: { readonly at: number; readonly cpuMs: number }, cpuMs: number, at: number): number {
  const passed = at - last.at;
  return passed <= 0 ? 0 : Math.max(0, Math.round(((cpuMs - last.cpuMs) / passed) * 100));
}
