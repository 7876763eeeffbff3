// `nacre workflow`: 1. the whole file is read and validated, 2. its steps run under the user's own rules,
// 3. events are shown as they happen: a live view on a terminal, JSON lines otherwise.
import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { NacreError } from '../../contract/failure.ts';
import { createId } from '../../support/ids.ts';
import type { WorkflowEvent, WorkflowResult } from '../../workflows/events.ts';
import { executeWorkflow } from '../../workflows/execute-workflow.ts';
import { readWorkflow } from '../../workflows/read-workflow.ts';
import { createRunStore } from '../../workflows/run-store.ts';
import type {
  Arguments,
  EngineAccess,
  FlagAccess,
  Io,
  IoAccess,
  PlaceAccess,
  ReplySettings,
  ToolAccess,
  UserRules,
} from '../door.ts';
import { invalidExit, problemExit, toSignalExit } from '../exit-codes.ts';
import { print, toErrorJson, toErrorText } from '../print.ts';
import { createWorkflowDeps } from '../workflow-deps.ts';
import { createWorkflowView } from './workflow-view.ts';

const abortPollMs = 100;

interface Flags {
  readonly json: boolean;
  readonly abortFile?: string | undefined;
  readonly resume?: string | undefined;
  readonly parallel?: number | undefined;
}

type WorkflowFileDeps = FlagAccess<Flags> &
  IoAccess &
  Arguments &
  EngineAccess &
  PlaceAccess &
  ReplySettings &
  ToolAccess &
  UserRules;

/** Runs the workflow in a YAML file. */
export async function workflowDoor(deps: WorkflowFileDeps): Promise<number> {
  const { io, flags } = deps;
  const isTerminal = 'isTTY' in io.stdout && io.stdout.isTTY === true && !flags.json;
  try {
    const result = await run(deps, isTerminal);
    return toExitCode(result, io.interrupted);
  } catch (error) {
    await (isTerminal || !flags.json
      ? print(io.stderr, toErrorText(error))
      : print(io.stdout, toErrorJson(error)));
    return invalidExit;
  } finally {
    await deps.close();
  }
}

async function run(deps: WorkflowFileDeps, isTerminal: boolean): Promise<WorkflowResult> {
  const { io, flags, words, places, engine, tools, ownRules: rules, maxOutputChars } = deps;
  const { text, path } = readFile(words);
  const read = readWorkflow(text, path);
  const workflow = { ...read, parallel: flags.parallel ?? read.parallel };
  const store = createRunStore(places.workflowDir);
  const id = flags.resume ?? createId('run');
  const saved = store.open(id, workflow, { resume: flags.resume !== undefined });
  const abort = watchAbort(io, flags.abortFile);
  const view = isTerminal ? createWorkflowView(io.stdout) : createJsonLines(io);
  try {
    return await executeWorkflow(
      workflow,
      createWorkflowDeps({
        ...{ engine, rules, maxOutputChars, door: 'cli' },
        tools: async () => (await tools()).list(),
      }),
      {
        run: id,
        saved,
        signal: abort.signal,
        onEvent: view.show,
        onUsage: view.showUsage,
      },
    );
  } finally {
    saved.close();
    abort.stop();
    await view.close();
  }
}

function readFile([path, ...more]: readonly string[]): { text: string; path: string } {
  if (path === undefined || more.length > 0) {
    throw new NacreError('invalid_request', 'nacre workflow expects one file.', {
      hint: 'Try: nacre workflow FILE.yaml',
    });
  }
  try {
    return { text: readFileSync(path, 'utf8'), path };
  } catch (cause) {
    throw new NacreError('invalid_request', `${path} cannot be read: ${(cause as Error).message}.`, {
      hint: 'Pass a readable YAML file; nothing was run.',
      cause,
    });
  }
}

function watchAbort({ interrupted }: Io, file: string | undefined) {
  const controller = new AbortController();
  const abort = () => controller.abort(interrupted.reason);
  const check = () => file !== undefined && existsSync(file) && controller.abort(describeAbort(file));
  interrupted.addEventListener('abort', abort, { once: true });
  if (interrupted.aborted) abort();
  check();
  const timer = file === undefined ? undefined : setInterval(check, abortPollMs);
  const stop = () => {
    clearInterval(timer);
    interrupted.removeEventListener('abort', abort);
  };
  return { signal: controller.signal, stop };
}

const maxAbortChars = 1_000;

/** The text of the abort file, which says why its writer aborts the workflow. */
function describeAbort(file: string): string {
  const text = readStart(file).trim();
  return text === '' ? `${file} exists` : text.slice(0, maxAbortChars).toWellFormed();
}

// Does not use `readFileSync`, because the file may be endless, such as a pipe.
function readStart(file: string): string {
  try {
    if (!statSync(file).isFile()) return '';
    const bytes = Buffer.alloc(maxAbortChars * 4);
    const handle = openSync(file, 'r');
    try {
      return bytes.toString('utf8', 0, readSync(handle, bytes));
    } finally {
      closeSync(handle);
    }
  } catch {
    return '';
  }
}

function createJsonLines({ stdout, interrupted }: Io) {
  let written = Promise.resolve();
  const show = (event: WorkflowEvent) => {
    const line = `${JSON.stringify(event)}\n`;
    written = written.then(() => print(stdout, line, interrupted));
  };
  return { show, showUsage: undefined, close: () => written };
}

function toExitCode({ status }: WorkflowResult, { reason, aborted }: AbortSignal): number {
  if (status !== 'aborted') return status === 'completed' ? 0 : problemExit;
  return toSignalExit(aborted ? reason : undefined, 'SIGINT');
}
