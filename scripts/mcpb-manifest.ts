import manifest from '../package.json' with { type: 'json' };
import { presetNames } from '../src/policy/presets.ts';
import { describeTools } from './reference/describe-tools.ts';

const { name, version, description, license, keywords, engines } = manifest;

/** The manifest of the MCPB bundle: how a client describes, configures and starts the server. */
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
      // `--cwd`, because a desktop app may start servers in any directory, even `/`.
      args: ['${__dirname}/dist/cli.js', 'mcp', '--cwd', '${user_config.project_folder}'],
      env: {
        NACRE_PRESET: '${user_config.preset}',
        ALLOWED_CWD_ROOTS: '${user_config.project_folder}',
        NACRE_TOOLS: '${user_config.tools}',
        NACRE_SANDBOX: '${user_config.sandbox}',
      },
    },
  },
  tools: listTools(),
  // The user chooses the tool families, so this list is not final.
  tools_generated: true,
  compatibility: { platforms: ['darwin', 'linux'], runtimes: { node: engines.node } },
  user_config: {
    preset: {
      type: 'string',
      title: 'Programs that may run',
      description: `A ready-made list: ${presetNames.join(', ')}. Programs that are not on it are refused; nacre allow adds some.`,
      default: 'dev',
      required: true,
    },
    project_folder: {
      type: 'directory',
      title: 'Folder that commands work in',
      description:
        'Commands start there; working directories outside it are refused. A sandbox needs a folder below the home directory.',
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
