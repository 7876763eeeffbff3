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

/** The names of the presets, from the narrowest to the widest. */
export const presetNames = ['read-only', 'git', 'dev-node', 'dev-python', 'full'] as const;

/** The name of one preset. */
export type PresetName = (typeof presetNames)[number];

/** What each preset gives to other settings. */
export const presets: Readonly<
  Record<PresetName, { readonly allowedCommands: readonly string[]; readonly fileWrites?: 'none' }>
> = {
  'read-only': { allowedCommands: reading, fileWrites: 'none' },
  git: { allowedCommands: inOrder(reading, ['git']) },
  'dev-node': { allowedCommands: inOrder(reading, editing, ['git'], javascript) },
  'dev-python': { allowedCommands: inOrder(reading, editing, ['git'], python) },
  full: { allowedCommands: ['*'] },
};

function inOrder(...lists: readonly (readonly string[])[]): readonly string[] {
  return lists.flat().sort();
}
