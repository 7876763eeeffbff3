import type { Facts, Place } from '../../contract/facts.ts';
import { NacreError } from '../../contract/failure.ts';
import type { CommandRequest } from '../../contract/request.ts';
import { decideCwd } from '../../policy/decide-cwd.ts';
import { decideSensitive, sensitiveDirectories } from '../../policy/decide-sensitive.ts';
import type { EngineParts, RunContext } from '../run.ts';

/** Where a command would run, and what holds there. */
export interface FoundPlace {
  readonly facts: Facts;
  /** The canonical directory. */
  readonly cwd: string;
  /** What the caller should know of it. */
  readonly notes: readonly string[];
}

/** Asks the backend about the place of a command, and decides on its directory; throws for one that may not be. */
export async function inspectPlace(
  { backend, sessions }: EngineParts,
  request: Pick<CommandRequest, 'cwd' | 'session'>,
  {
    cwdRoots,
    cwdNames,
    workspace,
    refuseSensitive,
  }: Pick<RunContext, 'cwdRoots' | 'cwdNames' | 'workspace' | 'refuseSensitive'>,
): Promise<FoundPlace> {
  const { session } = request;
  const ask = (cwd: string | undefined) =>
    backend.inspect({ cwd, roots: cwdRoots.flat(), programs: [], session, workspace });
  if (session === undefined) {
    const facts = await ask(request.cwd);
    const cwd = decideCwd(facts, cwdRoots, { given: request.cwd !== undefined, names: cwdNames });
    if (refuseSensitive) await keepFromSensitive(backend, facts, cwd);
    return { facts, cwd, notes: [] };
  }
  const known = sessions.places.get(session);
  // A caller who names the same directory with every call means where the shell begins, not where it is to return to.
  const asked = request.cwd === known?.asked ? undefined : request.cwd;
  const facts = await ask(asked);
  const found = decideWithin(facts, cwdRoots, asked === undefined ? known?.allowed : undefined);
  sessions.places.set(session, { asked: request.cwd ?? known?.asked, allowed: found.cwd });
  const notes = [...(asked === undefined ? noteGone(facts) : []), ...found.notes];
  return { facts: { ...facts, cwd: { asked: found.cwd, path: found.cwd } }, cwd: found.cwd, notes };
}

// Where its directory was deleted or closed to it, a session stands in the nearest one above it.
function noteGone({ session, cwd }: Facts): readonly string[] {
  if (session === undefined || session.cwd === cwd.asked) return [];
  return [`The session's directory ${session.cwd} is gone or closed; the command began in ${cwd.asked}.`];
}

// The places themselves may be links, too; they do not move between two calls.
const sensitive = new WeakMap<EngineParts['backend'], { places: Promise<readonly Place[]>; until: number }>();
const placesLastMs = 5_000;

async function keepFromSensitive(backend: EngineParts['backend'], { home }: Facts, cwd: string) {
  const known = sensitive.get(backend);
  if (known && known.until > performance.now()) return decideSensitive(cwd, await known.places);
  const roots = sensitiveDirectories(home);
  const places = backend.inspect({ cwd: undefined, roots, programs: [] }).then((facts) => facts.roots);
  sensitive.set(backend, { places, until: performance.now() + placesLastMs });
  decideSensitive(cwd, await places);
}

// The roots bind a session's directory, wherever its commands went; it goes back to the last one that they allow.
function decideWithin(
  facts: Facts,
  cwdRoots: readonly (readonly string[])[],
  allowed: string | undefined,
): Omit<FoundPlace, 'facts'> {
  const given = cwdRoots.flat().length > 0;
  try {
    const cwd = decideCwd(facts, cwdRoots, { given });
    return { cwd, notes: [] };
  } catch (error) {
    const isOutside = error instanceof NacreError && error.code === 'cwd_not_allowed';
    if (!isOutside || allowed === undefined) throw error;
    const left = facts.session?.cwd ?? facts.cwd.asked;
    return {
      cwd: allowed,
      notes: [
        `The shell stood in ${left}, which ALLOWED_CWD_ROOTS does not allow; it went back to ${allowed}.`,
      ],
    };
  }
}

/** Tells when a command has left its session outside of what is allowed. */
export async function noteOutside(
  { backend, sessions }: EngineParts,
  session: string | undefined,
  { cwdRoots }: Pick<RunContext, 'cwdRoots'>,
): Promise<readonly string[]> {
  if (session === undefined || cwdRoots.flat().length === 0) return [];
  const facts = await backend.inspect({ cwd: undefined, roots: cwdRoots.flat(), programs: [], session });
  const allowed = sessions.places.get(session)?.allowed ?? '';
  try {
    decideCwd(facts, cwdRoots, { given: true });
    return [];
  } catch {
    const stands = facts.session?.cwd ?? facts.cwd.asked;
    return [
      `The shell now stands in ${stands}, outside of ALLOWED_CWD_ROOTS; the next command starts in ${allowed}.`,
    ];
  }
}
