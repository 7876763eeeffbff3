import { z } from 'zod';
import { clients } from '../clients/clients.ts';
import type { DoorEntry } from './door.ts';

const json = z.boolean().default(false).meta({ flag: '--json', description: 'Print one JSON document.' });

const since = z
  .string()
  .min(1)
  .optional()
  .meta({ flag: '--since', description: 'Only later ones: 90min, 2d, 2026-01-31 or a full time.' });

/** Every door, by the word that opens it. Each is loaded when it is opened. */
export const doors: Readonly<Record<string, DoorEntry>> = {
  mcp: {
    summary: 'Serve MCP on stdin and stdout, for agents.',
    usage: '',
    flags: {
      cwd: z.string().min(1).optional().meta({
        flag: '--cwd',
        description: 'Directory to serve in, as if nacre were started there.',
        path: true,
      }),
    },
    serves: ['tools'],
    load: () => import('./mcp/serve.ts'),
  },
  serve: {
    summary: 'Serve HTTP on one address, for apps, pages and agents.',
    usage: '',
    flags: {
      json: z
        .boolean()
        .default(false)
        .meta({ flag: '--json', description: 'Print address and token as one line of JSON.' }),
    },
    serves: ['tools', 'apps'],
    // Agents come over HTTP, too; what answers them is that of the other door.
    async load() {
      const [{ serve }, { createServer }, { watchResources }] = await Promise.all([
        import('./http/serve.ts'),
        import('./mcp/create-server.ts'),
        import('./mcp/resource-news.ts'),
      ]);
      return { open: (assembly) => serve(assembly, { createServer, watchResources }) };
    },
  },
  run: {
    summary: 'Run a command: one word is bash text, several are a program and its arguments.',
    usage: "'COMMAND' | PROGRAM ARGUMENT...",
    flags: {
      json,
      cwd: z
        .string()
        .min(1)
        .optional()
        .meta({ flag: '--cwd', description: 'Directory to run in.', path: true }),
      timeoutMs: z
        .int()
        .min(1)
        .max(86_400_000)
        .optional()
        .meta({ flag: '--timeout', description: 'End the command after this time, such as 30s.' }),
      input: z
        .string()
        .optional()
        .meta({ flag: '--input', description: "Text for the command's stdin; - passes on nacre's own." }),
    },
    takesCommand: true,
    load: () => import('./cli/run.ts'),
  },
  check: {
    summary: 'Tell whether a command would be allowed, and why not; nothing runs.',
    usage: "'COMMAND'",
    flags: {
      json,
      cwd: z
        .string()
        .min(1)
        .optional()
        .meta({ flag: '--cwd', description: 'Directory it would run in.', path: true }),
      file: z.string().min(1).optional().meta({
        flag: '--file',
        description: 'Score a file of labelled commands instead, as JSON lines.',
        path: true,
      }),
    },
    takesCommand: true,
    load: () => import('./cli/check.ts'),
  },
  workflow: {
    summary: 'Run the steps of a YAML file; later ones can take the output of earlier ones.',
    usage: 'FILE.yaml',
    flags: {
      json: json.meta({ flag: '--json', description: 'Print JSON lines on a terminal, too.' }),
      abortFile: z
        .string()
        .min(1)
        .optional()
        .meta({ flag: '--abort-file', description: 'Abort when this file appears.', path: true }),
      resume: z
        .string()
        .min(1)
        .optional()
        .meta({ flag: '--resume', description: 'Go on with a run after the steps that it completed.' }),
      parallel: z.int().min(1).max(64).optional().meta({
        flag: '--parallel',
        description: 'Steps that may run at one time, in place of what the file says.',
      }),
    },
    load: () => import('./cli/workflow.ts'),
  },
  audit: {
    summary:
      'Check the audit log (verify), show its commands (show), print its records (export), follow it (tail).',
    usage: 'verify | show | export | tail',
    flags: {
      json,
      since,
      program: z
        .string()
        .min(1)
        .optional()
        .meta({ flag: '--program', description: 'Only with this program.' }),
      outcome: z.string().min(1).optional().meta({
        flag: '--outcome',
        description: 'Only completed, failed, timeout, killed, refused or running.',
      }),
      client: z.string().min(1).optional().meta({ flag: '--client', description: 'Only of this client.' }),
      id: z.string().min(1).optional().meta({ flag: '--id', description: 'Only the command of this id.' }),
    },
    load: () => import('./cli/audit.ts'),
  },
  ps: {
    summary: 'List the commands of every running server.',
    usage: '',
    flags: { json },
    load: () => import('./control/ps.ts'),
  },
  logs: {
    summary: 'Print what a command of a running server has printed.',
    usage: 'ID',
    flags: {
      follow: z
        .boolean()
        .default(false)
        .meta({ flag: ['--follow', '-f'], description: 'Go on until it has ended.' }),
    },
    load: () => import('./control/logs.ts'),
  },
  attach: {
    summary: 'Put this terminal in front of a command of a running server; Ctrl-] leaves it.',
    usage: 'ID',
    flags: {},
    load: () => import('./control/attach.ts'),
  },
  stop: {
    summary: 'End a command of a running server with everything it has started.',
    usage: 'ID',
    flags: {},
    load: () => import('./control/stop.ts'),
  },
  approvals: {
    summary: 'List the commands that wait for approval, approve one of them or deny it.',
    usage: '[approve ID | deny ID]',
    flags: { json },
    load: () => import('./control/approvals.ts'),
  },
  pause: {
    summary: 'End all that runs on every running server and refuse what comes, until nacre resume.',
    usage: '',
    flags: {},
    load: async () => (await import('./control/switch.ts')).pause,
  },
  resume: {
    summary: 'Let commands run again after nacre pause.',
    usage: '',
    flags: {},
    load: async () => (await import('./control/switch.ts')).resume,
  },
  history: {
    summary: 'Show the commands that ran, from the audit log.',
    usage: '',
    flags: {
      json: json.meta({ flag: '--json', description: 'Print one JSON document a command.' }),
      grep: z
        .string()
        .min(1)
        .optional()
        .meta({ flag: '--grep', description: 'Only commands that match this regular expression.' }),
      failed: z
        .boolean()
        .default(false)
        .meta({ flag: '--failed', description: 'Only those that did not complete.' }),
      cwd: z.string().min(1).optional().meta({
        flag: '--cwd',
        description: 'Only those that ran in this directory or below it.',
        path: true,
      }),
      since,
      limit: z
        .int()
        .min(1)
        .max(1_000_000)
        .default(100)
        .meta({ flag: '--limit', description: 'How many to show, the newest ones.' }),
    },
    load: () => import('./cli/history.ts'),
  },
  learn: {
    summary: 'Suggest a list of programs from the commands that the audit log knows, with counts.',
    usage: '',
    flags: {
      json,
      since,
      client: z.string().min(1).optional().meta({ flag: '--client', description: 'Only of this client.' }),
      min: z
        .int()
        .min(1)
        .max(1_000_000)
        .default(1)
        .meta({ flag: '--min', description: 'Leave out programs of fewer commands.' }),
    },
    load: () => import('./cli/learn.ts'),
  },
  replay: {
    summary: 'Play what a command printed, as it was recorded (setting record).',
    usage: 'ID',
    flags: {
      speed: z
        .int()
        .min(1)
        .max(1_000)
        .default(1)
        .meta({ flag: '--speed', description: 'So many times faster.' }),
      maxPauseMs: z
        .int()
        .min(0)
        .max(86_400_000)
        .optional()
        .meta({ flag: '--max-pause', description: 'No pause longer than this, such as 2s.' }),
      export: z
        .enum(['v2', 'v3'])
        .optional()
        .meta({ flag: '--export', description: 'Print the asciicast of that version instead.' }),
    },
    load: () => import('./cli/replay.ts'),
  },
  init: {
    summary: 'Make an agent start nacre: write its own configuration file, or remove nacre from it.',
    usage: Object.keys(clients).join(' | '),
    flags: {
      scope: z.enum(['user', 'project']).optional().meta({
        flag: '--scope',
        description: 'For all that you do, or for the project alone.',
        unset: 'project for cursor and vscode, user for the others',
      }),
      project: z.string().min(1).optional().meta({
        flag: '--project',
        description: 'Folder that commands run in.',
        path: true,
        unset: 'the current one for a project, claude-desktop and cursor, else where the client works',
      }),
      file: z.string().min(1).optional().meta({
        flag: '--file',
        description: "Configuration file in place of the client's usual one.",
        path: true,
        unset: 'where the client looks',
      }),
      print: z.boolean().default(false).meta({
        flag: '--print',
        description: 'Print the entry, for any client, or what --remove would do, and write nothing.',
      }),
      remove: z.boolean().default(false).meta({ flag: '--remove', description: 'Remove the entry.' }),
      yes: z
        .boolean()
        .default(false)
        .meta({ flag: ['--yes', '-y'], description: 'Ask nothing and take the defaults.' }),
    },
    load: () => import('./cli/init.ts'),
  },
  config: {
    summary: 'Show settings, their values and where they came from: all, or those that are named.',
    usage: '[NAME...]',
    flags: {
      json,
      origin: z.boolean().default(false).meta({
        flag: '--origin',
        description:
          'Tell of each why it holds: what it outranks, what tightened it, when a change would hold.',
      }),
    },
    load: () => import('./cli/config.ts'),
  },
  doctor: {
    summary: 'Check what nacre needs on this machine, and tell how to mend what is missing.',
    usage: '',
    flags: { json },
    diagnoses: true,
    load: () => import('./cli/doctor.ts'),
  },
  completions: {
    summary: 'Print the script with which a shell completes this command line.',
    usage: 'bash | zsh | fish',
    flags: {},
    load: () => import('./cli/completions.ts'),
  },
  man: {
    summary: 'Print the man page.',
    usage: '',
    flags: {},
    load: () => import('./cli/man.ts'),
  },
};

/** Opens the socket through which these doors reach a running server. */
export const loadControl = () => import('./control/serve-control.ts');
