/**
 * Files and folders of a project that programs outside of a sandbox run, or from which they read commands to run, when
 * the user opens the project, enters its folder or commits. Code that the user starts on purpose (package.json,
 * Makefile, workflows of a CI service) is not listed: writing it is the usual work of an agent.
 */
export const protectedNames: readonly string[] = [
  // Editors
  ...['.vscode', '.idea', '.zed', '.fleet', '.nova', '.devcontainer', '.devcontainer.json'],
  ...['.exrc', '.nvimrc', '.nvim.lua', '.vimrc', '.dir-locals.el'],
  // Shells and hooks of git
  ...['.envrc', '.autoenv', '.husky', '.lefthook'],
  // Agents: servers and hooks that they start
  ...[
    '.claude',
    '.mcp.json',
    '.cursor',
    '.codex',
    '.gemini',
    '.qwen',
    '.opencode',
    'opencode.json',
    'opencode.jsonc',
  ],
  ...[
    '.kilocode',
    '.kilo',
    '.roo',
    '.clinerules',
    '.cline',
    '.continue',
    '.windsurf',
    '.copilot',
    '.github/copilot',
  ],
  ...[
    '.github/hooks',
    '.amazonq',
    '.kiro',
    '.junie',
    '.aider.conf.yml',
    '.crush.json',
    'crush.json',
    '.goose',
  ],
];
