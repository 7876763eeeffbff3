// `nacre workflow`: 1. the file is read and checked whole, 2. its steps are run under the user's own rules, 3. events are
// shown as they come: a live view on a terminal, JSON lines for everybody else.
import { existsSync, readFileSync } from 'node:fs';
import { NacreError } from '../../contract/failure.ts';
import { createId } from '../../support/create-id.ts';
import type { WorkflowEvent, WorkflowResult } from '../../workflows/events.ts';
import { readWorkflow } from '../../workflows/read-workflow.ts';
import { createRunStore } from '../../workflows/run-store.ts';
import { executeWorkflow } from '../../workflows/execute-workflow.ts';
import type {
  Arguments,
  EngineAccess,
  FlagAccess,
  Io,
  IoAccess,
  PlaceAccess,
  ReplyLimits,
  ToolAccess,
  UserRules,
} from '../door.ts';
import { faultyExit, invalidExit, toSignalledExit } from '../exit-codes.ts';
import { toJson, toSentences, write } from '../say.ts';
import { createWorkflowDeps } from '../workflow-deps.ts';
import { createWorkflowView } from './workflow-view.ts';

const abortPollMs = 100;

interface Flags {
  readonly json: boolean;
  readonly abortFile?: string | undefined;
  readonly resume?: string | undefined;
  readonly parallel?: number | undefined;
}

type WorkflowDoorDeps = FlagAccess<Flags> &
  IoAccess &
  Arguments &
  EngineAccess &
  PlaceAccess &
  ReplyLimits &
  ToolAccess &
  UserRules;

/** Runs the workflow in a YAML file. */
export async function workflowDoor(deps: WorkflowDoorDeps): Promise<number> {
  const { io, flags } = deps;
  const isTerminal = 'isTTY' in io.stdout && io.stdout.isTTY === true && !flags.json;
  try {
    const result = await run(deps, isTerminal);
    return toExitCode(result, io.interrupted);
  } catch (error) {
    await (isTerminal || !flags.json
      ? write(io.stderr, toSentences(error))
      : write(io.stdout, toJson(error)));
    return invalidExit;
  } finally {
    await deps.close();
  }
}

async function run(deps: WorkflowDoorDeps, isTerminal: boolean): Promise<WorkflowResult> {
  const { io, flags, words, places, engine, tools, ownRules: rules, maxOutputChars } = deps;
  const { text, path } = readGiven(words);
  const read = readWorkflow(text, path);
  const workflow = { ...read, parallel: flags.parallel ?? read.parallel };
  const store = createRunStore(places.workflowDir);
  const id = flags.resume ?? createId('run');
  const done = flags.resume === undefined ? undefined : store.load(flags.resume, workflow);
  const abort = watchAbort(io, flags.abortFile);
  const view = isTerminal ? createWorkflowView(io.stdout) : createLines(io);
  try {
    return await executeWorkflow(
      workflow,
      createWorkflowDeps({ engine, tools, rules, maxOutputChars, door: 'cli' }),
      {
        run: id,
        done,
        signal: abort.signal,
        onEvent: view.show,
        onUsage: view.used,
        onProgress: (ended) => store.save(id, workflow, ended),
      },
    );
  } finally {
    abort.stop();
    await view.close();
  }
}

function readGiven([path, ...more]: readonly string[]): { text: string; path: string } {
  if (path === undefined || more.length > 0) {
    throw new NacreError('invalid_request', 'nacre workflow takes one file.', {
      hint: 'Try: nacre workflow FILE.yaml',
    });
  }
  try {
    return { text: readFileSync(path, 'utf8'), path };
  } catch (cause) {
    throw new NacreError('invalid_request', `${path} cannot be read: ${(cause as Error).message}.`, {
      hint: 'Name a file of YAML that exists; nothing was run.',
      cause,
    });
  }
}

function watchAbort({ interrupted }: Io, file: string | undefined) {
  const controller = new AbortController();
  const abort = () => controller.abort(interrupted.reason);
  const look = () => file !== undefined && existsSync(file) && abort();
  interrupted.addEventListener('abort', abort, { once: true });
  if (interrupted.aborted) abort();
  look();
  const timer = file === undefined ? undefined : setInterval(look, abortPollMs);
  const stop = () => {
    clearInterval(timer);
    interrupted.removeEventListener('abort', abort);
  };
  return { signal: controller.signal, stop };
}

function createLines({ stdout, interrupted }: Io) {
  let written = Promise.resolve();
  const show = (event: WorkflowEvent) => {
    const line = `${JSON.stringify(event)}\n`;
    written = written.then(() => write(stdout, line, interrupted));
  };
  return { show, used: undefined, close: () => written };
}

function toExitCode({ status }: WorkflowResult, { reason, aborted }: AbortSignal): number {
  if (status !== 'aborted') return status === 'completed' ? 0 : faultyExit;
  return toSignalledExit(aborted ? reason : undefined, 'SIGINT');
}
