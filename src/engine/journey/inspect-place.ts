import type { Facts, InspectQuery, Place } from '../../contract/facts.ts';
import { NacreError } from '../../contract/failure.ts';
import type { Outcome } from '../../contract/outcome.ts';
import type { CommandRequest } from '../../contract/request.ts';
import { decideCwd, decideDefaultCwd } from '../../policy/decide-place.ts';
import { decideSensitive } from '../../policy/decide-sensitive.ts';
import type { RunContext } from '../context/call-context.ts';
import type { EngineDeps } from '../context/engine-deps.ts';

/** The directory that a command would run in, and the `Facts` for `decide`. */
export interface InspectedPlace {
  readonly facts: Facts;
  readonly cwd: string;
  /** Sentences about the directory, for the caller. */
  readonly notes: readonly string[];
}

type PlaceContext = Pick<
  RunContext,
  'cwdRoots' | 'cwdNames' | 'judgeDefaultCwd' | 'workspace' | 'refuseSensitive'
>;

/** Inspects the directory of a command through the backend; throws a `NacreError` if commands may not run there. */
export async function inspectPlace(
  deps: EngineDeps,
  { on, cwd, session }: Pick<CommandRequest, 'on' | 'cwd' | 'session'>,
  context: PlaceContext,
): Promise<InspectedPlace> {
  return session === undefined
    ? inspectPlain(deps, { machine: on, cwd }, context)
    : inspectSession(deps, { machine: on, cwd, session }, context);
}

async function inspectPlain(
  { backend, sensitivePlaces }: EngineDeps,
  { machine, cwd: requested }: Pick<InspectQuery, 'machine' | 'cwd'>,
  { cwdRoots, cwdNames, judgeDefaultCwd, workspace, refuseSensitive }: PlaceContext,
): Promise<InspectedPlace> {
  const query = {
    machine,
    cwd: requested,
    roots: cwdRoots.flat(),
    programs: [],
    session: undefined,
    workspace,
  };
  const facts = await backend.inspect(query);
  const given = requested !== undefined;
  const first = given ? undefined : decideDefaultCwd(facts, cwdRoots);
  const cwd = first ?? decideCwd(facts, cwdRoots, { given, judgeDefault: judgeDefaultCwd, names: cwdNames });
  if (refuseSensitive)
    decideSensitive(cwd, await sensitivePlaces.resolve(facts.homes ?? [facts.home], machine));
  return { facts: first === undefined ? facts : { ...facts, cwd: toPlace(first) }, cwd, notes: [] };
}

async function inspectSession(
  { backend, sessions }: EngineDeps,
  { machine, cwd: requested, session }: Pick<InspectQuery, 'machine' | 'cwd'> & { readonly session: string },
  { cwdRoots, workspace }: PlaceContext,
): Promise<InspectedPlace> {
  const known = sessions.shellCwds.get(session);
  // Callers may repeat the `cwd` that started the shell with every call; only a different one changes its directory.
  const changeTo = requested === known?.requested ? undefined : requested;
  const roots = cwdRoots.flat();
  const inspectAt = (cwd: string | undefined) =>
    backend.inspect({ machine, cwd, roots, programs: [], session, workspace });
  const found = await inspectAt(changeTo);
  const isLost = found.session === undefined && known?.last !== undefined;
  const there = isLost && changeTo === undefined ? await inspectAt(known.last) : found;
  const first = known === undefined && changeTo === undefined ? decideDefaultCwd(found, cwdRoots) : undefined;
  const facts = first === undefined ? usableOf(there, found) : { ...found, cwd: toPlace(first) };
  const { cwd, notes } = decideWithin(facts, cwdRoots, changeTo === undefined ? known?.allowed : undefined);
  sessions.shellCwds.set(session, { ...known, requested: requested ?? known?.requested, allowed: cwd });
  const gone = changeTo === undefined ? noteGone(facts) : [];
  return {
    facts: { ...facts, cwd: toPlace(cwd) },
    cwd,
    notes: [...(isLost ? [noteLost(cwd)] : []), ...gone, ...notes],
  };
}

function usableOf(wanted: Facts, other: Facts): Facts {
  return wanted.cwd.problem === undefined ? wanted : other;
}

/** Keeps the directory of a persistent shell, in case the worker that runs it is killed. */
export function rememberShell(
  { sessions }: EngineDeps,
  { session }: Pick<CommandRequest, 'session'>,
  outcome: Pick<Outcome, 'session'>,
): void {
  const known = session === undefined ? undefined : sessions.shellCwds.get(session);
  if (session === undefined || !known || !outcome.session) return;
  sessions.shellCwds.set(session, { ...known, last: outcome.session.cwd });
}

function noteLost(cwd: string): string {
  return `The session's shell is gone, because the worker that ran it was killed. A new shell started in ${cwd}; variables, functions, aliases, options and background jobs are lost.`;
}

function toPlace(path: string): Place {
  return { asked: path, path };
}

// A session whose directory was deleted or made inaccessible continues in the nearest parent.
function noteGone({ session, cwd }: Facts): readonly string[] {
  if (session === undefined || session.cwd === cwd.asked) return [];
  return [
    `The session's directory ${session.cwd} is gone or inaccessible; the command started in ${cwd.asked}.`,
  ];
}

// `cd` in a session can leave the roots; the next command then runs in the last allowed directory.
function decideWithin(
  facts: Facts,
  cwdRoots: readonly (readonly string[])[],
  lastAllowed: string | undefined,
): Omit<InspectedPlace, 'facts'> {
  const given = cwdRoots.flat().length > 0;
  try {
    return { cwd: decideCwd(facts, cwdRoots, { given }), notes: [] };
  } catch (error) {
    const isOutside = error instanceof NacreError && error.code === 'cwd_not_allowed';
    if (!isOutside || lastAllowed === undefined) throw error;
    const left = facts.session?.cwd ?? facts.cwd.asked;
    const note = `The shell was in ${left}, which ALLOWED_CWD_ROOTS does not allow; it was moved back to ${lastAllowed}.`;
    return { cwd: lastAllowed, notes: [note] };
  }
}

/** Returns a sentence if a command has left its session in a directory outside of the roots. */
export async function noteOutside(
  { backend, sessions }: EngineDeps,
  { on, session }: Pick<CommandRequest, 'on' | 'session'>,
  { cwdRoots }: Pick<RunContext, 'cwdRoots'>,
): Promise<readonly string[]> {
  if (session === undefined || cwdRoots.flat().length === 0) return [];
  const facts = await backend.inspect({
    machine: on,
    cwd: undefined,
    roots: cwdRoots.flat(),
    programs: [],
    session,
  });
  const allowed = sessions.shellCwds.get(session)?.allowed ?? '';
  try {
    decideCwd(facts, cwdRoots, { given: true });
    return [];
  } catch {
    const current = facts.session?.cwd ?? facts.cwd.asked;
    return [
      `The shell is now in ${current}, outside of ALLOWED_CWD_ROOTS; the next command starts in ${allowed}.`,
    ];
  }
}
