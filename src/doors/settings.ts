import { defineSettings, type Values } from '../settings/define.ts';
import { s } from '../settings/schema.ts';

const namedToken = s.object({
  name: s.text().regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'must be a short name of a-z, 0-9 and -'),
  sha256: s.text().regex(/^[0-9a-f]{64}$/, 'must be the SHA-256 of the token in hexadecimal'),
  allow: s.list(s.text().min(1)).optional(),
  cwd_roots: s.list(s.text().min(1)).optional(),
  requests_per_minute: s.int().min(1).max(1_000_000).optional(),
});

/** A token that fits in an HTTP header: printable ASCII without blanks. */
export const tokenPattern = /^[\x21-\x7e]{16,512}$/;
/** Describes `tokenPattern` in error messages. */
export const tokenWords = '16 to 512 printable ASCII characters without blanks';

/** Address, callers and limits of `nacre serve`, and the programs that apps may run. */
export const httpSettings = defineSettings({
  httpHost: s.text().min(1).default('127.0.0.1').meta({
    env: 'NACRE_HOST',
    flag: '--host',
    description:
      'Address to listen on; any address other than loopback requires tls_cert and tls_key, or insecure.',
  }),
  httpPort: s.int().min(0).max(65_535).default(7433).meta({
    env: 'NACRE_PORT',
    flag: '--port',
    description: 'Port to listen on; 0 picks a free one.',
  }),
  token: s.text().regex(tokenPattern).optional().meta({
    env: 'NACRE_TOKEN',
    description: 'Token that HTTP callers must send.',
    accepts: tokenWords,
    unset: 'generated at every start and printed once',
    secret: true,
  }),
  tokenFile: s.text().min(1).optional().meta({
    env: 'NACRE_TOKEN_FILE',
    flag: '--token-file',
    description: 'File that contains the token; created with mode 600 if it does not exist.',
    path: true,
  }),
  tokens: s.list(namedToken).max(1_000).default([]).meta({
    description:
      'Additional tokens, each of which can have a narrower list, its own directories and its own rate limit.',
    accepts: 'a list of entries with name, sha256 and optionally allow, cwd_roots and requests_per_minute',
    unset: 'none',
  }),
  shellAllowlist: s
    .list(s.text())
    .default([
      ...['git', 'ls', 'cat', 'head', 'tail', 'grep', 'find', 'wc', 'diff'],
      ...['docker', 'npm', 'npx', 'make', 'cargo', 'go', 'python', 'pip'],
    ])
    .meta({
      live: true,
      env: ['SHELL_ALLOWLIST', 'NACRE_SHELL_ALLOWLIST'],
      flag: '--shell-allow',
      description: 'Programs that POST /api/shell, its WebSocket stream and applets may run; * allows all.',
      accepts: 'a comma-separated list of programs, or *',
      everything: '*',
      project: 'intersect',
    }),
  terminalShells: s.list(s.text().min(1)).default([]).meta({
    env: 'NACRE_TERMINAL_SHELLS',
    flag: '--terminal-shells',
    description:
      'Shells that web pages may open in a terminal; input there is not judged and can do anything you can.',
    accepts: 'a comma-separated list of shells, such as bash',
    unset: 'none; web pages cannot open a terminal',
    project: 'intersect',
  }),
  execTimeoutMs: s
    .int()
    .min(1)
    .max(86_400_000)
    .default(60_000)
    .meta({
      env: ['EXEC_TIMEOUT_MS', 'NACRE_EXEC_TIMEOUT_MS'],
      flag: '--exec-timeout',
      description: 'Time limit for each command run by POST /api/shell.',
      project: 'lower',
    }),
  execMaxBufferBytes: s
    .int()
    .min(1)
    .max(134_217_728)
    .default(10_485_760)
    .meta({
      env: ['EXEC_MAX_BUFFER_BYTES', 'NACRE_EXEC_MAX_BUFFER_BYTES'],
      flag: '--exec-max-buffer-bytes',
      description:
        'Maximum output of a command run by POST /api/shell, for stdout and stderr separately; 10 MiB by default.',
      project: 'lower',
    }),
  httpMaxRunning: s.int().min(1).max(10_000).default(16).meta({
    env: 'NACRE_HTTP_MAX_RUNNING',
    flag: '--http-max-running',
    description: 'HTTP calls served at the same time; further calls are queued, and callers take turns.',
    project: 'lower',
  }),
  httpMaxQueued: s.int().min(0).max(100_000).default(512).meta({
    env: 'NACRE_HTTP_MAX_QUEUED',
    flag: '--http-max-queued',
    description: 'HTTP calls that may wait in the queue; further calls get status 429.',
    project: 'lower',
  }),
  httpHosts: s.list(s.text().min(1)).default([]).meta({
    env: 'NACRE_HTTP_HOSTS',
    flag: '--http-hosts',
    description: 'Additional names to accept in the Host header, besides those of this machine.',
    accepts: 'a comma-separated list of names, such as nacre.example.net',
  }),
  corsOrigins: s
    .list(s.text().regex(/^https?:\/\/[^/]+$/))
    .default([])
    .meta({
      env: 'NACRE_CORS_ORIGINS',
      flag: '--cors-origins',
      description: 'Origins of other web pages that may call with a token.',
      accepts: 'a comma-separated list of origins, such as http://localhost:6274',
    }),
  appletsDir: s.text().min(1).optional().meta({
    env: 'NACRE_APPLETS_DIR',
    flag: '--applets-dir',
    description: 'Folder with one subfolder per applet, each with an applet.json.',
    unset: 'no applets',
    path: true,
  }),
  appletOrigins: s.choice(['name', 'port']).default('name').meta({
    env: 'NACRE_APPLET_ORIGINS',
    flag: '--applet-origins',
    description:
      'Serve each applet at its own name below localhost, or at its own port if such names do not resolve.',
  }),
  tlsCert: s.text().min(1).optional().meta({
    env: 'NACRE_TLS_CERT',
    flag: '--tls-cert',
    description: 'TLS certificate file.',
    path: true,
  }),
  tlsKey: s.text().min(1).optional().meta({
    env: 'NACRE_TLS_KEY_FILE',
    flag: '--tls-key',
    description: 'TLS private key file.',
    path: true,
  }),
  insecure: s.boolean().default(false).meta({
    env: 'NACRE_INSECURE',
    flag: '--insecure',
    description: 'Serve other machines without TLS; anyone on the network path can read the token.',
  }),
  shutdownMs: s.int().min(0).max(600_000).default(5_000).meta({
    env: 'NACRE_SHUTDOWN_MS',
    flag: '--shutdown-ms',
    description: 'Time that open calls get to finish when the server shuts down.',
  }),
  mcpResumeMs: s.int().min(0).max(3_600_000).default(30_000).meta({
    env: 'NACRE_MCP_RESUME_MS',
    flag: '--mcp-resume-ms',
    description:
      'How long an MCP call over HTTP keeps running after its connection was lost, so that the client can resume it; then it is cancelled.',
  }),
  mcpIdleMs: s.int().min(1_000).max(604_800_000).default(3_600_000).meta({
    env: 'NACRE_MCP_IDLE_MS',
    flag: '--mcp-idle-ms',
    description:
      'How long an MCP session over HTTP stays open without use; then it ends, with its shells and commands.',
  }),
});

/** The values of the HTTP settings. */
export type HttpSettings = Values<typeof httpSettings>;
