import { askServers, type ServerFolder } from '../../servers/reach-servers.ts';
import type { ServerStatus } from '../../servers/server-status.ts';
import { escapeControls } from '../../support/escape-controls.ts';
import { isPaused } from '../../support/pause-mark.ts';
import type { DisplayAccess, FlagAccess, IoAccess } from '../door.ts';
import type { Paint } from '../paint.ts';
import { print, toErrorText } from '../print.ts';
import { type Cell, type Column, layOutTable } from '../table.ts';
import { toLocalTime } from '../terminal-text.ts';

type StatusDeps = FlagAccess<{ readonly json: boolean }> & IoAccess & DisplayAccess & ServerFolder;

/** `nacre status`: prints every running server of this user, and an error for each that did not reply. */
export async function statusDoor(deps: StatusDeps): Promise<number> {
  const { io, flags, display } = deps;
  const { replies, failed, close } = await askServers<ServerStatus>(deps, { method: 'status' });
  close();
  const servers = replies.map(({ result }) => result).sort((a, b) => (a.started_at < b.started_at ? -1 : 1));
  if (flags.json) await print(io.stdout, `${JSON.stringify(servers, null, 2)}\n`);
  else if (servers.length === 0 && failed.length === 0) await print(io.stdout, noServer);
  else await print(io.stdout, toText(servers, deps));
  await print(io.stderr, failed.map(toErrorText).join(''));
  if (!flags.json && isPaused(deps.controlDir))
    await print(io.stdout, `${display.paint.warning('nacre is paused')}: nothing runs until nacre resume.\n`);
  return 0;
}

const noServer = `No server is running.
nacre init CLIENT lets an agent start one, and nacre serve starts one for apps.
`;

const columns: readonly Column[] = [
  { title: 'PID' },
  { title: 'DOOR' },
  { title: 'RUNNING', alignRight: true },
  { title: 'SANDBOX' },
  { title: 'CLIENTS', isOptional: true },
  { title: 'ADDRESS', isOptional: true },
  { title: 'SINCE', isOptional: true },
  { title: 'ALLOWED' },
];

function toText(servers: readonly ServerStatus[], { display }: DisplayAccess): string {
  const rows = servers.map((server) => toRow(server, display.paint, display.isForPeople));
  const problems = servers.flatMap(({ pid, problem }) =>
    problem === null
      ? []
      : [`${display.paint.bad('problem')}: ${pid} cannot run commands: ${escapeControls(problem)}\n`],
  );
  return `${layOutTable(columns, rows, display)}${problems.join('')}`;
}

function toRow(server: ServerStatus, paint: Paint, isForPeople: boolean): readonly Cell[] {
  const { started_at } = server;
  return [
    { text: String(server.pid), paint: paint.name },
    { text: server.door },
    { text: String(server.running) },
    { text: server.sandbox ?? '-', paint: server.sandbox === 'off' ? paint.warning : paint.good },
    { text: escapeControls(server.clients.join(', ')) || '-' },
    { text: escapeControls(server.address ?? '-') },
    { text: isForPeople ? toLocalTime(started_at) : started_at, paint: paint.faint },
    { text: escapeControls(describeAllowed(server)) },
  ];
}

function describeAllowed({ preset, allowed, apps_allowed }: ServerStatus): string {
  const agents = preset === null ? toList(allowed) : `preset ${preset}`;
  return apps_allowed === null ? agents : `agents: ${agents}; apps: ${toList(apps_allowed)}`;
}

function toList(names: readonly string[]): string {
  return names.length === 0 ? 'nothing' : names.join(', ');
}
