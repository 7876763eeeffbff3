// `nacre audit`: reads and verifies the audit log. Only `prune` removes something from it.
import { readAuditKey } from '../../audit/audit-key.ts';
import { type AuditRecord, createRecordReader } from '../../audit/read-records.ts';
import { type CommandFilter, matchesFilter, summariseCommands } from '../../audit/summarise-commands.ts';
import { type AuditReport, verifyAudit } from '../../audit/verify.ts';
import { NacreError } from '../../contract/failure.ts';
import { didYouMean } from '../../settings/nearest.ts';
import { escapeControls, toOneLine } from '../../support/escape-controls.ts';
import { sleep } from '../../support/timing.ts';
import type {
  Arguments,
  DisplayAccess,
  FlagAccess,
  IoAccess,
  PlaceAccess,
  Places,
  WorkerAccess,
} from '../door.ts';
import { failedExit, problemExit } from '../exit-codes.ts';
import { print, toErrorJson, toErrorText } from '../print.ts';
import { describeUnfinished } from './describe-unfinished.ts';
import { parseSince } from './parse-since.ts';
import { pruneAudit } from './prune-audit.ts';
import { showCommands } from './show-commands.ts';

const pollMs = 250;

interface Flags extends CommandFilter {
  readonly json: boolean;
  readonly yes: boolean;
  readonly since?: string | undefined;
}

type AuditDeps = IoAccess & DisplayAccess & PlaceAccess & Pick<WorkerAccess, 'listKept'>;

/** `nacre audit verify`, `show`, `export`, `tail` and `prune`. */
export async function auditDoor(deps: AuditDeps & Arguments & FlagAccess<Flags>): Promise<number> {
  const { io, flags, words } = deps;
  try {
    return await choose(words)(deps, {
      ...flags,
      since: flags.since === undefined ? undefined : parseSince(flags.since),
    });
  } catch (error) {
    await (flags.json ? print(io.stdout, toErrorJson(error)) : print(io.stderr, toErrorText(error)));
    return failedExit;
  }
}

interface Options extends CommandFilter {
  readonly json: boolean;
  readonly yes: boolean;
  readonly since: string | undefined;
}

type Verb = (deps: AuditDeps, options: Options) => Promise<number>;

const verbs: Readonly<Record<string, Verb>> = {
  async verify({ io, places: { audit }, listKept }, { json }) {
    const key = audit.keyPath === undefined ? undefined : readAuditKey(audit.keyPath);
    const found = verifyAudit(audit.dir, key);
    const report = { ...found, notes: [...found.notes, ...describeUnfinished(found.unfinished, listKept())] };
    await print(io.stdout, json ? `${JSON.stringify(report)}\n` : toVerdict(report, audit));
    return report.problems.length === 0 ? 0 : problemExit;
  },
  async show(deps, options) {
    const { io, places } = deps;
    const commands = summariseCommands(records(places.audit.dir, options)).filter((one) =>
      matchesFilter(one, options),
    );
    if (!options.json) await showCommands(commands, deps);
    else
      for (const command of commands) await print(io.stdout, `${JSON.stringify(command)}\n`, io.interrupted);
    return 0;
  },
  async export({ io, places: { audit } }, options) {
    const isWanted = createFilter(audit.dir, options);
    for (const { record, line } of createRecordReader(audit.dir, options).more())
      if (isWanted(record)) await print(io.stdout, `${line}\n`, io.interrupted);
    return 0;
  },
  async tail({ io, places: { audit } }, options) {
    const reader = createRecordReader(audit.dir, { since: options.since ?? new Date().toISOString() });
    while (!io.interrupted.aborted) {
      for (const { record, line } of reader.more())
        await print(io.stdout, options.json ? `${line}\n` : toRecordRow(record), io.interrupted);
      await sleep(pollMs, io.interrupted);
    }
    return 0;
  },
  prune: pruneAudit,
};

function choose([verb, ...more]: readonly string[]): Verb {
  const found = verb !== undefined && Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
  if (found && more.length === 0) return found;
  const known = Object.keys(verbs);
  const message =
    verb === undefined
      ? 'nacre audit needs a subcommand.'
      : `Unknown subcommand: nacre audit ${[verb, ...more].join(' ')}.${didYouMean(verb, known)}`;
  throw new NacreError('invalid_request', message, { hint: `Use one of ${known.join(', ')}.` });
}

function* records(dir: string, { since }: Pick<Options, 'since'>): Generator<AuditRecord> {
  for (const { record } of createRecordReader(dir, { since }).more()) yield record;
}

// A single record lacks some of the fields that filters use, so the filter selects ids of whole commands.
function createFilter(dir: string, options: Options): (record: AuditRecord) => boolean {
  const { program, outcome, client, id } = options;
  if ([program, outcome, client, id].every((one) => one === undefined)) return () => true;
  const ids = summariseCommands(records(dir, options)).filter((one) => matchesFilter(one, options));
  const wanted = new Set(ids.map((command) => command.id));
  return (record) => wanted.has(record.id);
}

function toVerdict(
  { files, records: count, problems, pruned, notes }: AuditReport,
  { dir, keyPath }: Places['audit'],
): string {
  const lines = problems.map(
    ({ file, line, what }) => `BROKEN ${file}${line === null ? '' : `:${line}`} ${what}.`,
  );
  const amount = `${count} ${count === 1 ? 'record' : 'records'} in ${files} ${files === 1 ? 'file' : 'files'} in ${dir}`;
  const signed =
    keyPath === undefined
      ? 'signatures were not checked because audit_key is not set'
      : 'every signature is valid';
  const verdict = problems.length === 0 ? `Intact: ${amount}; ${signed}.` : `Not intact: ${amount}.`;
  const removed = pruned
    ? [
        `pruned: ${pruned.records} records of ${describeDays(pruned)} in ${pruned.files} files were removed on purpose.`,
      ]
    : [];
  return `${[...lines, ...notes.map((note) => `note: ${note}`), ...removed, verdict].join('\n')}\n`;
}

function describeDays({ from, to }: { readonly from: string; readonly to: string }): string {
  return from === to ? from : `${from} to ${to}`;
}

function toRecordRow({
  time,
  id,
  kind,
  client,
  seq: _seq,
  prev: _prev,
  sig: _sig,
  door: _door,
  ...rest
}: AuditRecord): string {
  return `${time}  ${id}  ${kind.padEnd(8)}  ${escapeControls(client)}: ${toOneLine(JSON.stringify(rest))}\n`;
}
