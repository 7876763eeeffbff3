// The MCP `instructions` of a connection: they tell a model what it may do, so that it need not find out from refusals.
// They come from the same rules that the policy applies.
import type { PolicyRule } from '../contract/decision.ts';
import type { MachineReport } from '../contract/report.ts';
import { escapeControls } from '../support/escape-controls.ts';
import { nameTools } from '../support/name-tools.ts';
import type { TimeLimits } from '../tools/common/time-limits.ts';
import type { ToolFamily } from '../tools/settings.ts';
import { describePrograms, isAboutProgram } from './describe-programs.ts';
import type { CallerRules } from './rules-for.ts';

/** One tool family of a connection. */
export interface DescribedFamily extends Pick<CallerRules, 'rules' | 'cwdRoots'> {
  readonly family: ToolFamily;
  readonly limits: TimeLimits;
}

/** Facts about a connection. */
export interface ConnectionFacts {
  readonly families: readonly DescribedFamily[];
  /** The directory that commands run in by default. */
  readonly cwd: string;
  readonly isolation: Pick<MachineReport, 'sandbox' | 'network' | 'files'>;
  readonly networkAllow: readonly string[];
  /** The setting `workspace`. */
  readonly workspace: readonly string[];
  /** The setting `tool_prefix`. */
  readonly toolPrefix?: string | undefined;
  /** Why every command is refused, if the engine cannot start. */
  readonly fault?: string | undefined;
}

/** Describes a connection for a model, in one line per topic. */
export function toInstructions(facts: ConnectionFacts): string {
  const [first] = facts.families;
  const lines = [
    "Use these tools, not a built-in shell: they follow the user's rules. A refusal says why and what is allowed.",
    ...(facts.fault === undefined ? [] : [`Every command is refused now: ${facts.fault}`]),
    ...(first ? describeRules(first) : []),
    ...describeOwnList(facts.families).map((line) => nameTools(facts.toolPrefix, line)),
    describePlace(facts),
    describeSandbox(facts),
    ...facts.families.map((family) => describeTools(family, facts.toolPrefix)),
  ];
  return lines.map(escapeControls).join('\n');
}

function describeRules({ rules }: DescribedFamily): readonly string[] {
  return [
    describePrograms(rules),
    ...(rules.fileWrites === 'none' ? ['Commands may not write files.'] : []),
    ...(rules.confirm === 'unlisted'
      ? ["Commands that are not known to be safe need the user's approval."]
      : []),
    ...describePolicy(rules.policy ?? []),
  ];
}

const maxRules = 6;
const verdicts = { allow: 'allowed', ask: 'asks the user', deny: 'refused' };
const maxRuleChars = 60;

function describePolicy(policy: readonly PolicyRule[]): readonly string[] {
  const described = policy.filter((rule) => rule.verdict !== 'allow' || !isAboutProgram(rule));
  if (described.length === 0) return [];
  const shown = described.slice(0, maxRules).map(({ verdict, program, args = [], cwd }) => {
    const command = [program, ...args].join(' ').slice(0, maxRuleChars).toWellFormed();
    return `${command}${cwd === undefined ? '' : ` in ${cwd}`} (${verdicts[verdict]})`;
  });
  const more = described.length > maxRules ? `, and ${described.length - maxRules} more` : '';
  return [`Rules: ${shown.join(', ')}${more}.`];
}

// `shell_execute` can have a list of its own.
function describeOwnList([first, ...others]: readonly DescribedFamily[]): readonly string[] {
  const own =
    others.find(({ family }) => family === 'shell-execute') ??
    (first?.family === 'shell-execute' ? first : undefined);
  if (!first || !own || own === first) return [];
  const text = describePrograms(own.rules);
  return text === describePrograms(first.rules) ? [] : [`shell_execute: ${text}`];
}

function describePlace({ cwd, families }: ConnectionFacts): string {
  const roots = [...new Set(families.flatMap(({ cwdRoots }) => cwdRoots.flat()))];
  const limits = roots.length === 0 ? '' : `; other directories must be below ${listSome(roots)}`;
  return `Working directory (or first root): ${cwd}${limits}.`;
}

function describeSandbox(facts: ConnectionFacts): string {
  const { sandbox } = facts.isolation;
  if (sandbox === 'off') return "No sandbox: commands can use the user's files and network.";
  return `Sandbox ${sandbox}: ${describeFiles(facts)} ${describeNetwork(facts)}`;
}

// Without namespaces, Landlock enforces the sandbox: temporary folders are then those of the machine.
function describeFiles({ isolation: { files }, workspace }: ConnectionFacts): string {
  const writable = workspace.length > 0 ? listSome(workspace) : "the command's working directory";
  if (files === 'landlock')
    return `only ${writable}, /tmp and /var/tmp are writable; the home directory cannot be read.`;
  return `only ${writable} and /tmp (shared by all your calls) are writable; the home directory is hidden.`;
}

function describeNetwork({ isolation: { network, files }, networkAllow }: ConnectionFacts): string {
  if (network === 'on') return 'Network: all hosts.';
  if (network === 'filtered')
    return `Network: only ${listSome(networkAllow)}, through the proxy in HTTPS_PROXY.`;
  if (files === 'landlock') return 'No network, not even localhost, until the user sets network: on.';
  return 'No network: downloads fail until the user allows hosts with network_allow.';
}

const maxListed = 12;

function listSome(names: readonly string[]): string {
  const shown = names.slice(0, maxListed).join(', ');
  return names.length > maxListed ? `${shown} and ${names.length - maxListed} more` : shown;
}

const fresh = 'each call runs in a new shell (cd and variables do not persist)';

// The word `Bash` alone can be the program, so `nameTools` leaves it.
function describeTools(family: DescribedFamily, prefix = ''): string {
  const line = nameTools(prefix, describeShell(family));
  return family.family === 'bash' ? `${prefix}${line}` : line;
}

function describeShell({ family, limits: { defaultMs, maxMs } }: DescribedFamily): string {
  const [after, most] = [defaultMs / 1_000, maxMs / 1_000];
  switch (family) {
    case 'terminal':
      return `execute_command: ${fresh} and is killed after ${after} s; timeout_ms changes that, up to ${most} s. Use start_command for servers and longer commands.`;
    case 'shell-execute':
      return `shell_execute: ${fresh} and is killed after ${Math.floor(after)} s; timeout changes that, up to ${Math.floor(most)} s.`;
    case 'bash':
      return `Bash: one shell keeps its directory and variables between calls. A command is killed after ${after} s; timeout changes that, up to ${most} s. A command in the background has no limit.`;
    case 'changes':
      return 'undo_changes restores files from before a command.';
  }
}
