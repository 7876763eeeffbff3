// `nacre machines`: connects to every machine in the settings and shows whether it can be used; `nacre machines check
// NAME` shows one in full.
import { NacreError } from '../../contract/failure.ts';
import { localMachine, type MachineExamination } from '../../contract/machine.ts';
import { escapeControls } from '../../support/escape-controls.ts';
import type { Arguments, DisplayAccess, FlagAccess, IoAccess, MachinesAccess } from '../door.ts';
import { failedExit, problemExit } from '../exit-codes.ts';
import { print, toErrorJson, toErrorText } from '../print.ts';
import { type Column, layOutTable } from '../table.ts';

type MachinesDeps = FlagAccess<{ readonly json: boolean }> &
  IoAccess &
  DisplayAccess &
  Arguments &
  MachinesAccess;

const listMs = 12_000;
const checkMs = 660_000;

/** Shows the machines of the settings. */
export async function machinesDoor(deps: MachinesDeps): Promise<number> {
  const { io, flags } = deps;
  try {
    const [action, name, ...more] = deps.words;
    if (action === undefined) return await listAll(deps);
    if (action !== 'check' || name === undefined || more.length > 0) throw usage();
    return await checkOne(deps, name);
  } catch (error) {
    await (flags.json ? print(io.stdout, toErrorJson(error)) : print(io.stderr, toErrorText(error)));
    return failedExit;
  }
}

async function listAll(deps: MachinesDeps): Promise<number> {
  const { io, flags, machineNames, display } = deps;
  const found = await Promise.all(machineNames.map((name) => deps.examineMachine(name, listMs)));
  const rows = found.map((one) => toRow(one, deps));
  const none = 'The settings have no machines; docs/guide/machines.md shows how to add one.\n';
  const text = found.length === 0 ? none : layOutTable(columns, rows, display);
  await print(io.stdout, flags.json ? `${JSON.stringify(found.map(toDocument), null, 2)}\n` : text);
  if (!flags.json) for (const one of found) await print(io.stderr, toProblem(one));
  return 0;
}

async function checkOne(deps: MachinesDeps, name: string): Promise<number> {
  const { io, flags, machineNames } = deps;
  if (!machineNames.includes(name)) throw unknownMachine(name, machineNames);
  const found = await deps.examineMachine(name, checkMs);
  await print(io.stdout, flags.json ? `${JSON.stringify(toDocument(found), null, 2)}\n` : toText(found));
  return found.isReachable ? 0 : problemExit;
}

const columns: readonly Column[] = [
  { title: 'NAME' },
  { title: 'ROAD' },
  { title: 'STATE' },
  { title: 'SUPERVISION', isOptional: true },
  { title: 'SANDBOX', isOptional: true },
  { title: 'JOBS', isOptional: true },
  { title: 'CONNECT', isOptional: true },
  { title: 'LATENCY', isOptional: true },
  { title: 'DESCRIPTION' },
];

function toRow(found: MachineExamination, { defaultMachine, display: { paint } }: MachinesDeps) {
  const { name, road, isReachable, report, jobs, connectMs, latencyMs, description } = found;
  const mark = name === defaultMachine && name !== localMachine ? ' (default)' : '';
  return [
    { text: `${name}${mark}`, paint: paint.name },
    { text: road },
    { text: isReachable ? 'reachable' : 'unreachable', paint: isReachable ? paint.good : paint.bad },
    { text: report?.supervision ?? '-' },
    { text: report ? `${report.sandbox}${report.sandbox === 'off' ? '' : ` (${report.files})`}` : '-' },
    { text: jobs === undefined ? '-' : String(jobs) },
    { text: connectMs === undefined ? '-' : `${connectMs}ms` },
    { text: latencyMs === undefined ? '-' : `${latencyMs}ms` },
    { text: escapeControls(description ?? '') },
  ];
}

function toProblem({ problem, hint }: MachineExamination): string {
  if (problem === undefined) return '';
  return `nacre: ${escapeControls(problem)}\n${hint === undefined ? '' : `nacre: ${escapeControls(hint)}\n`}`;
}

function toText(found: MachineExamination): string {
  const { name, road, isReachable, report, platform, home, worker, connectMs, latencyMs, jobs } = found;
  if (!isReachable) return `${name} (${road}) cannot be used.\n${toProblem(found)}`;
  const rows = [
    ['road', road],
    ['platform', platform ?? ''],
    ['home', home ?? ''],
    ['worker', worker ?? ''],
    ['connected in', `${connectMs} ms, one call takes ${latencyMs} ms`],
    ['running', `${jobs} commands`],
    ['bash', report ? `${report.bash.path} ${report.bash.version}` : ''],
    ['supervision', report?.supervision ?? ''],
    ['sandbox', report?.sandbox ?? ''],
    ['landlock', report?.landlock ?? ''],
    ['terminals', report?.pty ? 'available' : 'not available'],
    ...(report?.gaps ?? []).map((gap) => ['gap', gap]),
  ];
  const lines = rows.map(([label = '', value = '']) => `  ${label.padEnd(14)}${escapeControls(value)}\n`);
  return `${name} is reachable.\n${lines.join('')}`;
}

function toDocument(found: MachineExamination): Record<string, unknown> {
  const { isReachable, connectMs, latencyMs, report, ...rest } = found;
  return {
    ...rest,
    reachable: isReachable,
    connect_ms: connectMs,
    latency_ms: latencyMs,
    supervision: report?.supervision,
    sandbox: report?.sandbox,
    gaps: report?.gaps,
  };
}

function unknownMachine(name: string, names: readonly string[]): NacreError {
  return new NacreError('invalid_request', `There is no machine ${name}.`, {
    hint: names.length === 0 ? 'The settings have no machines.' : `Use ${names.join(' or ')}.`,
  });
}

function usage(): NacreError {
  return new NacreError('invalid_request', 'nacre machines takes no arguments, or check and a name.', {
    hint: 'Try: nacre machines check NAME',
  });
}
