import { sharedFlags } from '../../src/assembly/shared-flags.ts';
import { doors } from '../../src/doors/catalog.ts';
import { describeLine, type LineCommand, type LineFlag } from '../../src/doors/cli/line/describe-line.ts';
import { exitMeanings } from '../../src/doors/cli/line/exit-meanings.ts';
import { code, fence, table } from './markdown.ts';

/** docs/reference/cli.md, from the declarations that --help and the completions are made of. */
export function toCliPage(): string {
  const { commands } = describeLine({ doors, shared: sharedFlags, groups: {} });
  const overview = table(
    ['command', 'what it does'],
    commands.map(({ name, summary }) => [`[${name}](#nacre-${name})`, summary]),
  );
  return `${[introduction, overview, exitCodeSection, ...commands.map(toSection)].join('\n\n')}\n`;
}

const introduction = `# The command line

<!-- Written by scripts/generate-docs.mjs from the declarations in the code. -->

Every command also takes \`--help\`, \`--config FILE\` and the flags of [the settings](settings.md). \`nacre --help\` lists
all of them, \`nacre completions bash\` makes a shell complete them, and \`nacre man\` prints the man page.`;

const exitCodeSection = `## Exit codes

\`nacre run\` and \`nacre attach\` exit as their command does. [Errors](errors.md) tells the code of each failure.

${table(['code', 'meaning'], exitMeanings)}`;

function toSection({ name, summary, usage, flags }: LineCommand): string {
  const line = ['nacre', name, '[FLAG...]', usage].join(' ').trimEnd();
  const rows = flags.map((flag) => [
    toNames(flag),
    [flag.description, ...flag.notes.map(inBrackets)].join(' '),
  ]);
  return [
    `## nacre ${name}`,
    summary,
    fence('text', line),
    ...(rows.length === 0 ? [] : [table(['flag', 'meaning'], rows)]),
  ].join('\n\n');
}

function toNames({ names, placeholder }: LineFlag): string {
  return names.map((name) => code(`${name} ${placeholder}`.trimEnd())).join(', ');
}

function inBrackets(note: string): string {
  return `(${note})`;
}
