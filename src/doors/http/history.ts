/** One call as people see it. */
export interface HistoryEntry {
  readonly owner: string;
  readonly client: string;
  readonly command: string;
  readonly startedAt: string;
  /** What it came to; null while it runs. */
  readonly outcome: string | null;
  readonly durationMs: number | null;
}

/** What was asked for lately, in memory alone; the audit log is what lasts. */
export interface History {
  /** Notes a call; the returned function notes what it came to. */
  begin(
    caller: { readonly owner: string; readonly client: string },
    command: string,
  ): (outcome: string) => void;
  /** The newest first; only those of one owner when it is named. */
  list(owner?: string): readonly HistoryEntry[];
}

const mostKept = 200;
const longestCommand = 300;

/** Makes an empty history. */
export function createHistory(): History {
  const entries: { entry: HistoryEntry }[] = [];
  const drop = () => {
    if (entries.length <= mostKept) return;
    // What runs stays, however much came after it.
    const oldest = entries.findIndex(({ entry }) => entry.outcome !== null);
    if (oldest >= 0) entries.splice(oldest, 1);
  };
  return {
    begin({ owner, client }, command) {
      const started = performance.now();
      const shown = command.length > longestCommand ? `${command.slice(0, longestCommand)}…` : command;
      const startedAt = new Date().toISOString();
      const kept = {
        entry: { owner, client, command: shown, startedAt, outcome: null, durationMs: null } as HistoryEntry,
      };
      entries.push(kept);
      drop();
      return (outcome) => {
        if (kept.entry.outcome !== null) return;
        kept.entry = { ...kept.entry, outcome, durationMs: Math.round(performance.now() - started) };
      };
    },
    list: (owner) =>
      entries
        .map(({ entry }) => entry)
        .filter((entry) => owner === undefined || entry.owner === owner)
        .reverse(),
  };
}
