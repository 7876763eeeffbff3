import { z } from 'zod';
import { clients } from '../clients/clients.ts';
import { defineDoor } from './define-door.ts';
import type { DoorEntry } from './door.ts';
import { jsonFlag, pathFlag, sinceFlag, switchFlag, textFlag } from './flag-kinds.ts';

/** Every door, by the subcommand that opens it. */
export const doors: Readonly<Record<string, DoorEntry>> = {
  mcp: defineDoor({
    summary: 'Serve MCP over stdin and stdout, for agents.',
    usage: '',
    flags: { cwd: pathFlag('--cwd', 'Directory to serve in, as if nacre had been started there.') },
    remoteCallers: ['model'],
    workingDir: ({ cwd }) => cwd,
    load: async () => (await import('./mcp/serve.ts')).mcpDoor,
  }),
  serve: defineDoor({
    summary: 'Serve HTTP on one address, for apps, web pages and agents.',
    usage: '',
    flags: { json: switchFlag('--json', 'Print the address and the token as one line of JSON.') },
    remoteCallers: ['model', 'app'],
    // Agents can call over HTTP as well. Doors do not import one another, so the catalog passes in the MCP server.
    async load() {
      const [{ serve }, { createServer }, { watchResources }] = await Promise.all([
        import('./http/serve.ts'),
        import('./mcp/create-server.ts'),
        import('./mcp/resources.ts'),
      ]);
      return (deps) => serve(deps, { createServer, watchResources });
    },
  }),
  run: defineDoor({
    summary: 'Run a command: one argument is a bash script, several are a program and its arguments.',
    usage: "'COMMAND' | PROGRAM ARGUMENT...",
    flags: {
      json: jsonFlag,
      cwd: pathFlag('--cwd', 'Directory to run in.'),
      timeoutMs: z
        .int()
        .min(1)
        .max(86_400_000)
        .optional()
        .meta({ flag: '--timeout', description: 'Kill the command after this time, such as 30s.' }),
      input: z.string().optional().meta({
        flag: '--input',
        description: "Text for the command's stdin; - forwards nacre's own stdin.",
      }),
    },
    takesCommand: true,
    load: async () => (await import('./cli/run.ts')).runDoor,
  }),
  check: defineDoor({
    summary: 'Show whether the policy would allow a command, and why; nothing runs.',
    usage: "'COMMAND'",
    flags: {
      json: jsonFlag,
      cwd: pathFlag('--cwd', 'Directory it would run in.'),
      file: pathFlag('--file', 'Check a file of labelled commands (JSON Lines) and print a score instead.'),
    },
    takesCommand: true,
    load: async () => (await import('./cli/check.ts')).checkDoor,
  }),
  workflow: defineDoor({
    summary: 'Run the steps of a YAML file; later steps can use the output of earlier ones.',
    usage: 'FILE.yaml',
    flags: {
      json: switchFlag('--json', 'Print JSON Lines even at a terminal.'),
      abortFile: pathFlag('--abort-file', 'Abort when this file appears.'),
      resume: textFlag('--resume', 'Continue the run with this id after the steps it completed.'),
      parallel: z.int().min(1).max(64).optional().meta({
        flag: '--parallel',
        description: 'Maximum number of steps that run at the same time; overrides the file.',
      }),
    },
    load: async () => (await import('./cli/workflow.ts')).workflowDoor,
  }),
  audit: defineDoor({
    summary: 'Verify the audit log, show its commands, export its records, or follow it (tail).',
    usage: 'verify | show | export | tail',
    flags: {
      json: jsonFlag,
      since: sinceFlag,
      program: textFlag('--program', 'Only commands that ran this program.'),
      outcome: textFlag(
        '--outcome',
        'Only commands with this outcome: completed, failed, timeout, killed, refused or running.',
      ),
      client: textFlag('--client', 'Only commands from this client.'),
      id: textFlag('--id', 'Only the command with this id.'),
    },
    load: async () => (await import('./cli/audit.ts')).auditDoor,
  }),
  ps: defineDoor({
    summary: 'List the commands of every running server.',
    usage: '',
    flags: { json: jsonFlag },
    load: async () => (await import('./control/ps.ts')).psDoor,
  }),
  logs: defineDoor({
    summary: 'Print the output of a command on a running server.',
    usage: 'ID',
    flags: { follow: switchFlag(['--follow', '-f'], 'Keep printing until the command ends.') },
    load: async () => (await import('./control/logs.ts')).logsDoor,
  }),
  attach: defineDoor({
    summary: 'Connect this terminal to a command on a running server; Ctrl-] detaches.',
    usage: 'ID',
    flags: {},
    load: async () => (await import('./control/attach.ts')).attachDoor,
  }),
  stop: defineDoor({
    summary: 'Stop a command on a running server, and every process it started.',
    usage: 'ID',
    flags: {},
    load: async () => (await import('./control/stop.ts')).stopDoor,
  }),
  approvals: defineDoor({
    summary: 'List the commands that are waiting for approval, or approve or deny one.',
    usage: '[approve ID | deny ID]',
    flags: { json: jsonFlag },
    load: async () => (await import('./control/approvals.ts')).approvalsDoor,
  }),
  pause: defineDoor({
    summary: 'Stop all commands on every running server and refuse new ones until nacre resume.',
    usage: '',
    flags: {},
    load: async () => (await import('./control/pause-and-resume.ts')).pauseDoor,
  }),
  resume: defineDoor({
    summary: 'Allow commands to run again after nacre pause.',
    usage: '',
    flags: {},
    load: async () => (await import('./control/pause-and-resume.ts')).resumeDoor,
  }),
  history: defineDoor({
    summary: 'Show past commands from the audit log.',
    usage: '',
    flags: {
      json: switchFlag('--json', 'Print one JSON document per command.'),
      grep: textFlag('--grep', 'Only commands that match this regular expression.'),
      failed: switchFlag('--failed', 'Only commands that did not complete.'),
      cwd: pathFlag('--cwd', 'Only commands that ran in this directory or below it.'),
      since: sinceFlag,
      limit: z
        .int()
        .min(1)
        .max(1_000_000)
        .default(100)
        .meta({ flag: '--limit', description: 'Maximum number of commands to show; the newest are kept.' }),
    },
    load: async () => (await import('./cli/history.ts')).historyDoor,
  }),
  learn: defineDoor({
    summary: 'Suggest a list of programs to allow, from the commands in the audit log, with counts.',
    usage: '',
    flags: {
      json: jsonFlag,
      since: sinceFlag,
      client: textFlag('--client', 'Only commands from this client.'),
      min: z
        .int()
        .min(1)
        .max(1_000_000)
        .default(1)
        .meta({ flag: '--min', description: 'Leave out programs that fewer than N commands used.' }),
    },
    load: async () => (await import('./cli/learn.ts')).learnDoor,
  }),
  replay: defineDoor({
    summary: 'Play back the output of a command that was recorded with the setting record.',
    usage: 'ID',
    flags: {
      speed: z
        .int()
        .min(1)
        .max(1_000)
        .default(1)
        .meta({ flag: '--speed', description: 'Play N times as fast.' }),
      maxPauseMs: z
        .int()
        .min(0)
        .max(86_400_000)
        .optional()
        .meta({ flag: '--max-pause', description: 'Shorten pauses to at most this time, such as 2s.' }),
      export: z.enum(['v2', 'v3']).optional().meta({
        flag: '--export',
        description: 'Print the recording in this version of asciicast instead of playing it.',
      }),
    },
    load: async () => (await import('./cli/replay.ts')).replayDoor,
  }),
  init: defineDoor({
    summary: 'Configure an agent to start nacre, or remove nacre from its configuration.',
    usage: Object.keys(clients).join(' | '),
    flags: {
      scope: z.enum(['user', 'project']).optional().meta({
        flag: '--scope',
        description: 'Write the configuration for all of your projects, or for one project only.',
        unset: 'project for cursor and vscode, user for the others',
      }),
      project: pathFlag(
        '--project',
        'Folder that commands run in.',
        "the current folder for a project, claude-desktop and cursor; otherwise the client's working folder",
      ),
      file: pathFlag(
        '--file',
        "Configuration file to edit instead of the client's usual one.",
        'where the client looks for it',
      ),
      print: switchFlag(
        '--print',
        'Write nothing; print the entry, for any client, or what --remove would do.',
      ),
      remove: switchFlag('--remove', 'Remove the entry.'),
      yes: switchFlag(['--yes', '-y'], 'Ask no questions; use the flags and the proposed values.'),
    },
    load: async () => (await import('./cli/init.ts')).initDoor,
  }),
  config: defineDoor({
    summary: 'Show the values of all settings, or of those that you name, and where they come from.',
    usage: '[NAME...]',
    flags: {
      json: jsonFlag,
      origin: switchFlag(
        '--origin',
        'Also show what each value overrides, what made it stricter, and when a change takes effect.',
      ),
    },
    load: async () => (await import('./cli/config.ts')).configDoor,
  }),
  doctor: defineDoor({
    summary: 'Check what nacre needs on this machine, and show how to fix what is missing.',
    usage: '',
    flags: { json: jsonFlag },
    diagnoses: true,
    load: async () => (await import('./cli/doctor.ts')).doctorDoor,
  }),
  completions: defineDoor({
    summary: 'Print a completion script for your shell.',
    usage: 'bash | zsh | fish',
    flags: {},
    load: async () => (await import('./cli/completions.ts')).completionsDoor,
  }),
  man: defineDoor({
    summary: 'Print the man page.',
    usage: '',
    flags: {},
    load: async () => (await import('./cli/man.ts')).manDoor,
  }),
};

/** Loads the control socket, through which `nacre ps` and others reach a running server. */
export const loadControl = () => import('./control/serve-control.ts');
