// The actions of an operator's page: answer, stop, type, pause. They are forwarded to the server of the command, and
// recorded there with the name of the page.
import { z } from 'zod';
import type { IndexedCommand } from '../../../audit/command-index.ts';
import { NacreError } from '../../../contract/failure.ts';
import { inputText } from '../../../contract/request.ts';
import type { CallerContext } from '../../../engine/context/call-context.ts';
import type { ControlCall } from '../../../servers/control-call.ts';
import { askServers } from '../../../servers/reach-servers.ts';
import { setPaused } from '../../../support/pause-mark.ts';
import { receive } from '../../../tools/common/define-tool.ts';
import { type HttpCaller, toCaller } from '../access/callers.ts';
import { type Exchange, type Reply, toJsonReply } from '../requests/raw-http.ts';
import { readJson } from '../requests/read-body.ts';
import { hasCommand } from './command-output.ts';
import { type ConsoleDeps, findOwnCommand, requireOwner, toOutputDeps } from './console-endpoints.ts';
import { callAbout, callServer } from './servers.ts';

const answerRequest = z.strictObject({
  answer: z.enum(['approved', 'declined']),
  digest: z.string().regex(/^[0-9a-f]{64}$/, 'must be the digest of the request that was shown'),
  note: z.string().max(2_000).optional(),
});

/** Serves POST /api/approvals/ID. */
export async function answerQuestion(
  deps: ConsoleDeps,
  caller: HttpCaller,
  id: string,
  { incoming }: Pick<Exchange, 'incoming'>,
): Promise<Reply> {
  requireOwner(deps, caller);
  const { answer, digest, note } = receive('approvals', answerRequest, await readJson(incoming));
  const engine = await deps.engine();
  const question = deps.hub.questions().find((one) => one.id === id);
  const by = `the ${caller.client}`;
  if (question && question.server !== engine.instance)
    await callServer(deps.places.controlDir, question.server, {
      ...{ method: 'answer', id, answer, digest, note, by },
    });
  else if (engine.approvals) engine.approvals.answer(id, answer, { by, digest, note });
  else throw unknownQuestion(caller, id);
  deps.hub.refresh();
  return toJsonReply(200, { id, answer });
}

/** Serves POST /api/commands/ID/stop. */
export async function stopFromPage(deps: ConsoleDeps, caller: HttpCaller, id: string): Promise<Reply> {
  const command = await findOwnCommand(deps, caller, id);
  await act(deps, caller, command, { method: 'stop', id: command.id, by: caller.client }, async (context) => {
    const engine = await deps.engine();
    await engine.stop(command.id, { signal: 'SIGINT', graceMs: 2_000 }, context);
  });
  return toJsonReply(200, { id: command.id });
}

const typeRequest = z.strictObject({
  text: inputText.default(''),
  keys: z.array(z.string().max(20)).max(100).default([]),
  secret: z.boolean().default(false),
  eof: z.boolean().default(false),
});

/** Serves POST /api/commands/ID/type. */
export async function typeInto(
  deps: ConsoleDeps,
  caller: HttpCaller,
  id: string,
  { incoming }: Pick<Exchange, 'incoming'>,
): Promise<Reply> {
  requireOwner(deps, caller);
  const input = receive('type', typeRequest, await readJson(incoming));
  const command = await findOwnCommand(deps, caller, id);
  await act(
    deps,
    caller,
    command,
    { method: 'write', id: command.id, input, by: caller.client },
    async (context) => {
      const engine = await deps.engine();
      await engine.write(command.id, input, context);
    },
  );
  return toJsonReply(200, { id: command.id });
}

async function act(
  deps: ConsoleDeps,
  caller: HttpCaller,
  command: IndexedCommand,
  call: ControlCall,
  here: (context: CallerContext) => Promise<void>,
): Promise<void> {
  const engine = await deps.engine();
  if (await hasCommand(engine, command.id)) await here({ caller: toCaller(caller), owner: '*' });
  else await callAbout(toOutputDeps(deps), command, call);
  deps.hub.refresh();
}

const pauseRequest = z.strictObject({ paused: z.boolean() });

/** Serves POST /api/pause: ends every command of every server and refuses new ones, or lets them run again. */
export async function pauseAll(
  deps: ConsoleDeps,
  caller: HttpCaller,
  { incoming }: Pick<Exchange, 'incoming'>,
): Promise<Reply> {
  requireOwner(deps, caller);
  const { paused } = receive('pause', pauseRequest, await readJson(incoming));
  const { controlDir } = deps.places;
  const engine = await deps.engine();
  engine.notePageAct(paused ? 'paused' : 'resumed', toCaller(caller));
  setPaused(controlDir, paused);
  if (paused) {
    const { close } = await askServers({ controlDir }, { method: 'end_all' });
    close();
    await engine.endAll();
    await deps.endWorkers();
  }
  deps.hub.refresh();
  return toJsonReply(200, { paused });
}

function unknownQuestion(caller: Pick<HttpCaller, 'page'>, id: string): NacreError {
  return new NacreError('job_not_found', `There is no approval request ${id.slice(0, 64)}.`, {
    hint: caller.page ? 'The page Approvals lists them.' : 'GET /api/approvals lists them.',
  });
}
