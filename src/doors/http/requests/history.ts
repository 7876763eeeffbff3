/** One call as the start page shows it. */
export interface HistoryEntry {
  readonly owner: string;
  readonly client: string;
  readonly command: string;
  readonly startedAt: string;
  /** `exit 0`, `timeout` or another result; null while the call runs. */
  readonly outcome: string | null;
  readonly durationMs: number | null;
}

/** Recent calls, in memory only; the audit log is the permanent record. */
export interface History {
  /** Adds a call; the returned function sets its outcome. */
  begin(
    caller: { readonly owner: string; readonly client: string },
    command: string,
  ): (outcome: string) => void;
  /** Entries, newest first; only those of `owner` if it is passed. */
  list(owner?: string): readonly HistoryEntry[];
}

const maxEntries = 200;
const maxCommandChars = 300;

/** Creates an empty history. */
export function createHistory(): History {
  const calls: { entry: HistoryEntry }[] = [];
  // Running calls stay listed, however many came after them.
  const dropOldest = () => {
    if (calls.length <= maxEntries) return;
    const oldest = calls.findIndex(({ entry }) => entry.outcome !== null);
    if (oldest >= 0) calls.splice(oldest, 1);
  };
  return {
    begin({ owner, client }, command) {
      const started = performance.now();
      const shown = command.length > maxCommandChars ? `${command.slice(0, maxCommandChars)}…` : command;
      const startedAt = new Date().toISOString();
      const call: { entry: HistoryEntry } = {
        entry: { owner, client, command: shown, startedAt, outcome: null, durationMs: null },
      };
      calls.push(call);
      dropOldest();
      return (outcome) => {
        if (call.entry.outcome !== null) return;
        call.entry = { ...call.entry, outcome, durationMs: Math.round(performance.now() - started) };
      };
    },
    list: (owner) =>
      calls
        .map(({ entry }) => entry)
        .filter((entry) => owner === undefined || entry.owner === owner)
        .reverse(),
  };
}
