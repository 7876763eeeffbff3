import { z } from 'zod';
import type { DoorEntry } from './door.ts';

const json = z.boolean().default(false).meta({ flag: '--json', description: 'Print one JSON document.' });

/** Every door, by the word that opens it. Each is loaded when it is opened. */
export const doors: Readonly<Record<string, DoorEntry>> = {
  mcp: {
    summary: 'Serve MCP on stdin and stdout, for agents.',
    usage: '',
    flags: {},
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
    load: () => import('./http/serve.ts'),
  },
  run: {
    summary: 'Run a command: one word is bash text, several are a program and its arguments.',
    usage: "'COMMAND' | PROGRAM ARGUMENT...",
    flags: {
      json,
      cwd: z.string().min(1).optional().meta({ flag: '--cwd', description: 'Directory to run in.' }),
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
      cwd: z.string().min(1).optional().meta({ flag: '--cwd', description: 'Directory it would run in.' }),
      file: z
        .string()
        .min(1)
        .optional()
        .meta({ flag: '--file', description: 'Score a file of labelled commands instead, as JSON lines.' }),
    },
    takesCommand: true,
    load: () => import('./cli/check.ts'),
  },
  audit: {
    summary:
      'Check the audit log (verify), show its commands (show), print its records (export), follow it (tail).',
    usage: 'verify | show | export | tail',
    flags: {
      json,
      since: z
        .string()
        .min(1)
        .optional()
        .meta({ flag: '--since', description: 'Only later ones: 90min, 2d, 2026-01-31 or a full time.' }),
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
  config: {
    summary: 'Show every setting, its value and where it came from.',
    usage: '',
    flags: { json },
    load: () => import('./cli/config.ts'),
  },
  doctor: {
    summary: 'Show what nacre found on this machine.',
    usage: '',
    flags: { json },
    load: () => import('./cli/doctor.ts'),
  },
};
