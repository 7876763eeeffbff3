/** The text of a systemd user unit that runs `nacre serve`; `execStart` is its quoted command line. */
export function toUnit(introduction: readonly string[], execStart: string): string {
  return `${introduction.map((line) => `# ${line}`).join('\n')}
[Unit]
Description=nacre, the layer between agents and the shell

[Service]
ExecStart=${execStart}
WorkingDirectory=%h
Restart=on-failure
# On SIGTERM, running calls get five seconds to finish (shutdown_ms); then nacre kills the remaining process trees.
TimeoutStopSec=15
KillMode=mixed
# No further hardening: commands need their own namespaces, which stricter options of this unit would forbid.
UMask=0077

[Install]
WantedBy=default.target
`;
}

/** The ExecStart line for a program and its quoted arguments. */
export function toExecStart(program: string, args: readonly string[]): string {
  // systemd refuses quotes and backslashes in the path of the program itself, and does not read `$$` there as `$`.
  const isAccepted = !/["'\\$]/.test(program);
  const start = isAccepted ? [] : ['/bin/sh', '-c', `'exec "$$@"'`, 'nacre'];
  return [...start, quoteForSystemd(program), ...args].join(' ');
}

/** Quotes a word for ExecStart, where systemd expands `%` specifiers and `$` variables even inside quotes. */
export function quoteForSystemd(word: string): string {
  const escaped = word.replaceAll(/["\\]/g, '\\$&').replaceAll('%', '%%').replaceAll('$', '$$$$');
  return /^[\w@:,.+/=%-]+$/.test(word) ? escaped : `"${escaped}"`;
}

/** The flags of a server that a service manager starts; its token stays the same across restarts. */
export const serviceFlags: readonly string[] = ['--port=7433', '--token-file=%h/.config/nacre/token'];

/** The unit in `packaging/`, which is the same for every user: it finds nacre when it starts. */
export function toSearchingUnit(): string {
  const introduction = [
    'A systemd unit for one user. Copy it to ~/.config/systemd/user/, then run systemctl --user enable --now nacre.',
    'It finds nacre where npm installs it: /usr/local/bin, /usr/bin, ~/.local/bin, ~/.npm-global/bin, and below the',
    'folders of nvm, fnm and Volta. nacre unit prints one with the paths of the nacre that you run.',
  ];
  return toUnit(introduction, `/bin/sh -c '${searchScript.join(' \\\n  ')}'`);
}

// Version managers, and npm with a prefix below the home directory, install where systemd's PATH does not lead. Folders
// that have a nacre come first, because the node that installed it is in the same folder; `$$` is a `$` for systemd.
const searchScript = [
  'set -- "$$HOME"/.nvm/versions/node/*/bin "$$HOME"/.local/share/fnm/node-versions/*/installation/bin',
  '  "$$HOME"/.volta/bin "$$HOME"/.npm-global/bin "$$HOME"/.local/bin;',
  'for dir; do if [ -x "$$dir/node" ]; then PATH="$$dir:$$PATH"; fi; done;',
  'for dir; do if [ -x "$$dir/nacre" ]; then PATH="$$dir:$$PATH"; fi; done;',
  `exec nacre serve ${serviceFlags.join(' ').replace('%h', () => '"$$HOME"')}`,
];
