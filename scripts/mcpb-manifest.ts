import manifest from '../package.json' with { type: 'json' };
import { describeTools } from './reference/describe-tools.ts';

const { name, version, description, license, keywords, engines } = manifest;

/** The manifest of the MCPB bundle: what a client shows of it, asks for, and starts. */
export const mcpbManifest = {
  manifest_version: '0.3',
  name,
  version,
  description,
  author: { name: 'The nacre authors' },
  license,
  keywords,
  server: {
    type: 'node',
    entry_point: 'dist/cli.js',
    mcp_config: {
      command: 'node',
      // A desktop app starts servers wherever it likes, at the root of the file system for instance.
      args: ['${__dirname}/dist/cli.js', 'mcp', '--cwd', '${user_config.project_folder}'],
      env: {
        ALLOWED_COMMANDS: '${user_config.allowed_commands}',
        ALLOWED_CWD_ROOTS: '${user_config.project_folder}',
        NACRE_TOOLS: '${user_config.tools}',
        NACRE_SANDBOX: '${user_config.sandbox}',
      },
    },
  },
  tools: listTools(),
  // Which families are offered is the user's choice.
  tools_generated: true,
  compatibility: { platforms: ['darwin', 'linux'], runtimes: { node: engines.node } },
  user_config: {
    allowed_commands: {
      type: 'string',
      title: 'Programs that may run',
      description: 'Separated by commas; * allows all of them. What is not listed is refused.',
      default: 'git,ls,cat,head,tail,grep,find,wc,npm,node',
      required: true,
    },
    project_folder: {
      type: 'directory',
      title: 'Folder that commands work in',
      description:
        'They start there; working directories outside of it are refused. A sandbox needs a folder below the home directory.',
      default: '${HOME}',
      required: true,
    },
    tools: {
      type: 'string',
      title: 'Tools to offer',
      description: 'terminal, shell-execute, bash, several of them separated by commas, or all.',
      default: 'terminal',
      required: true,
    },
    sandbox: {
      type: 'string',
      title: 'Sandbox',
      description:
        'off, workspace (only the working directory is writable, no network) or strict; needs bubblewrap.',
      default: 'off',
      required: true,
    },
  },
};

function listTools() {
  return describeTools().terminal.map(({ name: tool, description: text }) => ({
    name: tool,
    description: text.split(/(?<=\.)\s/)[0],
  }));
}
