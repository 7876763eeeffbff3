const reading = [
  ...['basename', 'cat', 'cksum', 'cmp', 'column', 'comm', 'cut', 'df', 'diff', 'dirname', 'du', 'echo'],
  ...['egrep', 'expr', 'fgrep', 'find', 'fold', 'grep', 'head', 'id', 'join', 'jq', 'ls', 'md5sum', 'nl'],
  ...[
    'od',
    'paste',
    'printf',
    'pwd',
    'read',
    'readlink',
    'realpath',
    'rev',
    'rg',
    'seq',
    'sha256sum',
    'sort',
  ],
  ...['stat', 'strings', 'tac', 'tail', 'tr', 'type', 'uname', 'uniq', 'wc', 'which', 'whoami'],
];

const editing = [
  ...['awk', 'chmod', 'cp', 'date', 'ln', 'make', 'mkdir', 'mv', 'rm', 'rmdir', 'sed', 'sleep', 'tee'],
  ...['timeout', 'touch', 'xargs'],
];

const javascript = ['corepack', 'node', 'npm', 'npx', 'pnpm', 'tsc', 'yarn'];

const python = ['mypy', 'pip', 'pip3', 'poetry', 'pytest', 'python', 'python3', 'ruff', 'uv'];

/** The preset names, from narrowest to widest. */
export const presetNames = ['read-only', 'git', 'dev-node', 'dev-python', 'full'] as const;

/** One preset name. */
export type PresetName = (typeof presetNames)[number];

/** The values of `allowedCommands` and `fileWrites` that each preset implies. */
export const presets: Readonly<
  Record<PresetName, { readonly allowedCommands: readonly string[]; readonly fileWrites?: 'none' }>
> = {
  'read-only': { allowedCommands: reading, fileWrites: 'none' },
  git: { allowedCommands: sorted(reading, ['git']) },
  'dev-node': { allowedCommands: sorted(reading, editing, ['git'], javascript) },
  'dev-python': { allowedCommands: sorted(reading, editing, ['git'], python) },
  full: { allowedCommands: ['*'] },
};

function sorted(...lists: readonly (readonly string[])[]): readonly string[] {
  return lists.flat().sort();
}
