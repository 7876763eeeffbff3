// `nacre port`: 1. all servers report the rooms of their connections, with the ports on which commands listen there,
// 2. the room that listens on the named port is chosen, 3. its server opens that port on 127.0.0.1, or closes it.
import { showCommand } from '../../contract/command.ts';
import { NacreError } from '../../contract/failure.ts';
import type { ForwardedPort, ListeningPort, RoomState } from '../../contract/port.ts';
import type { ListedCommand } from '../../engine/commands/commands.ts';
import { askServers, type ReachedServer, type ServerFolder } from '../../servers/reach-servers.ts';
import { toPort } from '../../servers/to-port.ts';
import { escapeControls, toOneLine } from '../../support/escape-controls.ts';
import type { Arguments, DisplayAccess, FlagAccess, IoAccess } from '../door.ts';
import { print, toErrorText } from '../print.ts';
import { type Column, layOutTable } from '../table.ts';

interface Flags {
  readonly json: boolean;
  readonly to?: number | undefined;
  readonly for?: string | undefined;
  readonly close?: number | undefined;
}

type PortDeps = FlagAccess<Flags> & IoAccess & Arguments & DisplayAccess & ServerFolder;

/** A port on which a command listens, with its server. */
interface FoundPort extends ListeningPort {
  readonly server: ReachedServer;
  readonly room: string;
  readonly hostPort: number | null;
  /** The name and the script of `command`. */
  readonly name: string | undefined;
  readonly script: string;
}

/** Lists the ports of sandboxed commands, or opens or closes one on 127.0.0.1. */
export async function portDoor(deps: PortDeps): Promise<number> {
  const { io, words, flags } = deps;
  const [word, ...more] = words;
  if (more.length > 0 || (word !== undefined && flags.close !== undefined)) throw oneAction();
  if (word === undefined && (flags.to !== undefined || flags.for !== undefined)) throw oneAction();
  const port = word === undefined ? undefined : toPort('PORT', word);
  const { replies, failed, close } = await askServers<readonly RoomState[]>(deps, { method: 'ports' });
  try {
    const found = await findPorts(replies);
    if (flags.close !== undefined) await print(io.stdout, await closePort(found, flags.close));
    else if (port !== undefined) {
      if (!found.some((one) => one.port === port)) await refuseFarPort(replies, port);
      await print(io.stdout, await openPort(found, port, flags));
    } else await print(io.stdout, flags.json ? toJson(found) : toTable(found, deps.display));
    await print(io.stderr, failed.map(toErrorText).join(''));
    return 0;
  } finally {
    close();
  }
}

async function findPorts(
  replies: readonly { readonly server: ReachedServer; readonly result: readonly RoomState[] }[],
): Promise<readonly FoundPort[]> {
  const all = await Promise.all(
    replies.map(async ({ server, result }) => {
      const isUsed = result.some(({ listening }) => listening.length > 0);
      const commands = isUsed ? ((await server.call({ method: 'list' })) as readonly ListedCommand[]) : [];
      return result.flatMap((room) => toFound(server, room, commands));
    }),
  );
  return all.flat();
}

// The port of a command on another machine would open on 127.0.0.1 of that machine.
async function refuseFarPort(
  replies: readonly { readonly server: ReachedServer }[],
  port: number,
): Promise<void> {
  const lists = await Promise.all(replies.map(({ server }) => server.call({ method: 'list' })));
  const commands = (lists as readonly (readonly ListedCommand[])[]).flat();
  const found = commands.find(({ machine, look }) => machine !== undefined && look.listening.includes(port));
  if (!found) return;
  throw new NacreError(
    'invalid_request',
    `The command ${found.id} listens on port ${port} of the machine ${found.machine}; nacre opens only ports of this machine.`,
    {
      hint: `Use ssh -L ${port}:127.0.0.1:${port}, and start the command with network: on or without a sandbox, so that it listens on the machine itself.`,
    },
  );
}

function toFound(
  server: ReachedServer,
  { room, listening, forwarded }: RoomState,
  commands: readonly ListedCommand[],
): readonly FoundPort[] {
  const silent = forwarded.filter(({ port }) => !listening.some((one) => one.port === port));
  const ports = [...listening, ...silent.map(({ port }) => ({ port, command: null }))];
  return ports.flatMap(({ port, command }) => {
    const listed = commands.find(({ id }) => id === command);
    const script = listed ? showCommand(listed.command) : '';
    const found = { server, room, port, command, name: listed?.name, script };
    const open: (number | null)[] = forwarded.filter((one) => one.port === port).map((one) => one.hostPort);
    return (open.length === 0 ? [null] : open).map((hostPort) => ({ ...found, hostPort }));
  });
}

async function openPort(found: readonly FoundPort[], port: number, flags: Flags): Promise<string> {
  const { server, room, script } = chooseRoom(found, port, flags.for);
  const to = flags.to ?? port;
  const opened = (await server.call({ method: 'open_port', room, port, to })) as ForwardedPort;
  const label = script === '' ? `port ${port}` : `port ${port} of ${toOneLine(script).slice(0, 80)}`;
  return `${toAddress(opened.hostPort)} is ${label}; close it with nacre port --close ${opened.hostPort}.\n`;
}

// Uses `localhost`, not 127.0.0.1, to which browsers would send the cookie of nacre's own pages, because cookies ignore
// ports.
function toAddress(hostPort: number): string {
  return `http://localhost:${hostPort}`;
}

function chooseRoom(found: readonly FoundPort[], port: number, wanted: string | undefined): FoundPort {
  const listening = found.filter((one) => one.port === port);
  const mine = listening.filter(
    ({ room, command, name }) => wanted === undefined || [room, command, name].includes(wanted),
  );
  const rooms = new Set(mine.map(({ server, room }) => `${server.pid} ${room}`));
  const [first] = mine;
  if (first && rooms.size === 1) return first;
  if (!first) throw notListening(port, wanted);
  const names = mine.map(({ command, room }) => escapeControls(command ?? room)).join(', ');
  throw new NacreError('invalid_request', `Several commands listen on port ${port}: ${names}.`, {
    hint: 'Name one of them with --for.',
  });
}

async function closePort(found: readonly FoundPort[], hostPort: number): Promise<string> {
  const [one] = found.filter((port) => port.hostPort === hostPort);
  if (!one) {
    throw new NacreError('invalid_request', `No server has opened port ${hostPort} of 127.0.0.1.`, {
      hint: 'nacre port lists the open ports.',
    });
  }
  await one.server.call({ method: 'close_port', port: hostPort });
  return `Port ${hostPort} of 127.0.0.1 is closed.\n`;
}

function toJson(found: readonly FoundPort[]): string {
  const rows = found.map(({ port, hostPort, room, command, server }) => ({
    port,
    host_port: hostPort,
    connection: room,
    command_id: command,
    server_pid: Number(server.pid),
  }));
  return `${JSON.stringify(rows, null, 2)}\n`;
}

const columns: readonly Column[] = [
  { title: 'PORT' },
  { title: 'OPEN AT' },
  { title: 'CONNECTION', isOptional: true },
  { title: 'ID' },
  { title: 'COMMAND' },
];

function toTable(found: readonly FoundPort[], display: DisplayAccess['display']): string {
  if (found.length === 0) return 'No sandboxed command listens on a port.\n';
  const rows = found.map(({ port, hostPort, room, command, script }) => [
    { text: String(port), paint: display.paint.name },
    { text: hostPort === null ? '-' : toAddress(hostPort) },
    { text: room === '' ? '-' : escapeControls(room) },
    { text: command ?? '-' },
    { text: toOneLine(script) },
  ]);
  return layOutTable(columns, rows, display);
}

function oneAction(): NacreError {
  return new NacreError(
    'invalid_request',
    'nacre port accepts PORT with --to and --for, or --close PORT, or nothing.',
    {
      hint: 'nacre port lists the ports that sandboxed commands listen on.',
    },
  );
}

function notListening(port: number, wanted: string | undefined): NacreError {
  const of =
    wanted === undefined ? 'No sandboxed command' : `No sandboxed command of ${escapeControls(wanted)}`;
  return new NacreError('invalid_request', `${of} listens on port ${port}.`, {
    hint: 'nacre port lists the ports in sandboxes. A command without a sandbox, or with network: on, listens on the machine itself.',
  });
}
