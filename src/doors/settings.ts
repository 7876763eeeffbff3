import { z } from 'zod';
import { defineSettings, type Values } from '../settings/define.ts';

const namedToken = z.strictObject({
  name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'must be a short word of a-z, 0-9 and -'),
  sha256: z.string().regex(/^[0-9a-f]{64}$/, 'must be the SHA-256 of the token in hexadecimal'),
  allow: z.array(z.string().min(1)).optional(),
  cwd_roots: z.array(z.string().min(1)).optional(),
  requests_per_minute: z.int().min(1).max(1_000_000).optional(),
});

/** What can be sent as a token in a header: visible ASCII. */
export const tokenPattern = /^[\x21-\x7e]{16,512}$/;
/** The same in words. */
export const tokenWords = '16 to 512 letters, digits and signs of ASCII, without blanks';

/** Where and for whom `nacre serve` serves, and what apps may run. */
export const httpSettings = defineSettings({
  httpHost: z.string().min(1).default('127.0.0.1').meta({
    env: 'NACRE_HOST',
    flag: '--host',
    description: 'Address to serve on; one that is not of this machine alone needs TLS files or insecure.',
  }),
  httpPort: z.int().min(0).max(65_535).default(7433).meta({
    env: 'NACRE_PORT',
    flag: '--port',
    description: 'Port to serve on; 0 takes a free one.',
  }),
  token: z.string().regex(tokenPattern).optional().meta({
    env: 'NACRE_TOKEN',
    description: 'The token that callers over HTTP show.',
    accepts: tokenWords,
    unset: 'a new one at every start, printed once',
    secret: true,
  }),
  tokenFile: z.string().min(1).optional().meta({
    env: 'NACRE_TOKEN_FILE',
    flag: '--token-file',
    description: 'File that holds the token; one that does not exist is made, for its owner alone.',
    path: true,
  }),
  tokens: z.array(namedToken).max(1_000).default([]).meta({
    description: 'More tokens, each with a narrower list, directories or rate of its own.',
    accepts: 'a list of entries, each with name, sha256 and perhaps allow, cwd_roots and requests_per_minute',
    unset: 'none',
  }),
  shellAllowlist: z
    .array(z.string())
    .default([
      ...['git', 'ls', 'cat', 'head', 'tail', 'grep', 'find', 'wc', 'diff'],
      ...['docker', 'npm', 'npx', 'make', 'cargo', 'go', 'python', 'pip'],
    ])
    .meta({
      live: true,
      env: ['SHELL_ALLOWLIST', 'NACRE_SHELL_ALLOWLIST'],
      flag: '--shell-allow',
      description: 'Programs that POST /api/shell, its stream and applets may run; * allows all of them.',
      accepts: 'a comma-separated list of programs, or *',
      everything: '*',
      project: 'intersect',
    }),
  terminalShells: z.array(z.string().min(1)).default([]).meta({
    env: 'NACRE_TERMINAL_SHELLS',
    flag: '--terminal-shells',
    description:
      'Shells that pages may open at a terminal; what is typed there is not judged and can do whatever you can.',
    accepts: 'a comma-separated list of shells, such as bash',
    unset: 'none, so that there is no terminal',
    project: 'intersect',
  }),
  execTimeoutMs: z
    .int()
    .min(1)
    .max(86_400_000)
    .default(60_000)
    .meta({
      env: ['EXEC_TIMEOUT_MS', 'NACRE_EXEC_TIMEOUT_MS'],
      flag: '--exec-timeout',
      description: 'How long a command of POST /api/shell may take.',
      project: 'lower',
    }),
  execMaxBufferBytes: z
    .int()
    .min(1)
    .max(134_217_728)
    .default(10_485_760)
    .meta({
      env: ['EXEC_MAX_BUFFER_BYTES', 'NACRE_EXEC_MAX_BUFFER_BYTES'],
      flag: '--exec-max-buffer-bytes',
      description: 'Bytes that a command of POST /api/shell may write to stdout, and as many to stderr.',
      project: 'lower',
    }),
  httpMaxRunning: z.int().min(1).max(10_000).default(16).meta({
    env: 'NACRE_HTTP_MAX_RUNNING',
    flag: '--http-max-running',
    description: 'Calls over HTTP that are served at the same time; more wait in line, callers in turn.',
    project: 'lower',
  }),
  httpMaxQueued: z.int().min(0).max(100_000).default(512).meta({
    env: 'NACRE_HTTP_MAX_QUEUED',
    flag: '--http-max-queued',
    description: 'Calls over HTTP that wait in line; more are answered with 429.',
    project: 'lower',
  }),
  httpHosts: z.array(z.string().min(1)).default([]).meta({
    env: 'NACRE_HTTP_HOSTS',
    flag: '--http-hosts',
    description: 'Names in the Host header that are ours beside those of this machine.',
    accepts: 'a comma-separated list of names, such as nacre.example.net',
  }),
  corsOrigins: z
    .array(z.string().regex(/^https?:\/\/[^/]+$/))
    .default([])
    .meta({
      env: 'NACRE_CORS_ORIGINS',
      flag: '--cors-origins',
      description: 'Origins of other pages that may call with a token.',
      accepts: 'a comma-separated list of origins, such as http://localhost:6274',
    }),
  appletsDir: z.string().min(1).optional().meta({
    env: 'NACRE_APPLETS_DIR',
    flag: '--applets-dir',
    description: 'Folder of applets, each in a folder of its own with an applet.json.',
    unset: 'no applets',
    path: true,
  }),
  appletOrigins: z.enum(['name', 'port']).default('name').meta({
    env: 'NACRE_APPLET_ORIGINS',
    flag: '--applet-origins',
    description:
      'Whether applets are at names below localhost, or, where these do not resolve, at ports of their own.',
  }),
  tlsCert: z.string().min(1).optional().meta({
    env: 'NACRE_TLS_CERT',
    flag: '--tls-cert',
    description: 'File of the certificate to serve with.',
    path: true,
  }),
  tlsKey: z.string().min(1).optional().meta({
    env: 'NACRE_TLS_KEY_FILE',
    flag: '--tls-key',
    description: 'File of its key.',
    path: true,
  }),
  insecure: z.boolean().default(false).meta({
    env: 'NACRE_INSECURE',
    flag: '--insecure',
    description: 'Serve beyond this machine without TLS: whoever listens in can take the token.',
  }),
  shutdownMs: z.int().min(0).max(600_000).default(5_000).meta({
    env: 'NACRE_SHUTDOWN_MS',
    flag: '--shutdown-ms',
    description: 'How long calls may take to finish when the server is asked to end.',
  }),
});

/** The values of these settings. */
export type HttpSettings = Values<typeof httpSettings>;
