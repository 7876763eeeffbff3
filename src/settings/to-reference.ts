import { listSettings, type ProjectRule, type Setting, type SettingGroups } from './define.ts';
import { describeAccepted, describeDefault } from './describe.ts';

/** The reference page of all settings, in Markdown. */
export function toReference(groups: SettingGroups): string {
  const sections = Object.entries(groups).flatMap(([title, declarations]) => [
    `## ${title}`,
    ...listSettings(declarations).map(toSection),
  ]);
  return `${[introduction, ...sections].join('\n\n')}\n`;
}

const introduction = `# Settings

<!-- Written by scripts/generate-docs.mjs from the declarations in the code. -->

A setting can be given by a flag, an environment variable, the project's \`nacre.yaml\` or the user's
\`$XDG_CONFIG_HOME/nacre/config.yaml\` (\`~/.config/nacre/config.yaml\` without that variable); a file named with
\`--config\` takes the place of the user's. A flag wins over the environment, the environment over the user's file,
and that over the default. The project's file is found from the working directory upwards; whoever wrote it need
not be you, so it can only tighten what the other sources gave, and each setting below says how.

Files are YAML with the names below as keys; relative paths in a file start from its folder. Lists are separated
by commas, or are YAML lists in a file. An empty variable counts as not set, except for a list, which it makes
empty. A wrong value, an unknown key, an unknown flag, or the same setting given twice in one place stops the
start with a message that names it.

A server that runs takes in changes of the user's file where a setting says so below. Any other change that restricts
commands makes it refuse them until it is started anew, and the refusal names its process.`;

function toSection(setting: Setting): string {
  const row = (label: string, text: string) => `| ${label} | ${text.replaceAll('|', '\\|')} |`;
  return [
    `### ${setting.key}`,
    '',
    setting.description,
    '',
    '| | |',
    '|---|---|',
    row('flag', toCode(setting.flags)),
    row('environment', toCode(setting.env)),
    row('values', describeAccepted(setting)),
    row('default', describeDefault(setting)),
    row('project file', projectWords[setting.project]),
    ...(setting.live ? [row('a change', 'in the user file holds from the next command on')] : []),
  ].join('\n');
}

function toCode(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.map((name) => `\`${name}\``).join(', ');
}

const projectWords: Record<ProjectRule, string> = {
  intersect: 'keeps only what stands in both lists, entries compared as written',
  add: 'adds to the list',
  alongside: 'gives a second list, and both must hold',
  lower: 'can make it smaller',
  stricter: 'can move it to a later one of the values',
  never: 'may not name it',
};
