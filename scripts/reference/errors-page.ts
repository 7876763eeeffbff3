// docs/reference/errors.md: every code with a real example over every door, what the policy refuses, what HTTP refuses
// before there is a command, and every sentence of the sources.
import { type FailureCode, failureCodes, NacreError } from '../../src/contract/failure.ts';
import { exitCodes } from '../../src/doors/exit-codes.ts';
import { toFailure } from '../../src/doors/http/problem.ts';
import { toSentences } from '../../src/doors/say.ts';
import { describeTools } from './describe-tools.ts';
import { failureExamples, failureOf } from './failure-examples.ts';
import { listSentences } from './list-sentences.ts';
import { code, fence, table } from './markdown.ts';
import { decideExample, refusedExamples } from './policy-examples.ts';

/** The page, for the sources by path. */
export async function toErrorsPage(sources: ReadonlyMap<string, string>): Promise<string> {
  const sections = await Promise.all(failureCodes.map((one) => toSection(one)));
  return `${[introduction, overview(), ...sections, policySection(), httpSection(sources), listSection(sources)].join('\n\n')}\n`;
}

const introduction = `# Errors

<!-- Written by scripts/generate-docs.mjs from the code. -->

A command that ran has an outcome, whatever became of it: its exit code, its output, and what ended it. Only what kept
a command from running is an error. Every error has a code from this closed list, a sentence that names the value and
the reason, and a hint with the next step; each door says the same in its own form:

- **MCP**: the reply has \`isError: true\`. \`execute_command\` and its family answer YAML with the keys \`error\`, \`code\` and
  \`hint\`, also as data; \`Bash\` and its family a text, with \`error\`, \`code\` and \`hint\` as data; \`shell_execute\` a text, and
  the code in \`_meta["nacre/code"]\`.
- **HTTP**: the status, and a body with \`error\`, \`hint\` and the code as \`reason\`. The same on a WebSocket, as \`shell.error\`.
- **A program**: a \`NacreError\` with \`code\`, \`message\`, \`hint\` and \`details\`, or the result of the tool as over MCP.
- **The command line**: two lines on stderr and the exit code of \`nacre run\`; \`--json\` prints \`{"error": {code, message, hint}}\`.
  Every other command of nacre exits with 125, but \`nacre workflow\` with 2.`;

function overview(): string {
  const rows = failureCodes.map((one) => [
    `[${one}](#${one})`,
    failureExamples[one].meaning,
    statusOf(one),
    String(exitCodes[one]),
  ]);
  return `## All codes\n\n${table(['code', 'meaning', 'HTTP', 'exit'], rows)}`;
}

function statusOf(one: FailureCode): string {
  return String(toFailure(new NacreError(one, ''), () => {}).status);
}

async function toSection(one: FailureCode): Promise<string> {
  const error = await failureOf(one);
  const { body } = toFailure(error, () => {});
  const [execute, bash, shellExecute] = await Promise.all([
    say(error, 'execute_command'),
    say(error, 'Bash'),
    say(error, 'shell_execute'),
  ]);
  return [
    `### ${one}`,
    failureExamples[one].meaning,
    `\`nacre run\`, exit code ${exitCodes[one]}:`,
    fence('text', toSentences(error)),
    `HTTP, status ${statusOf(one)}:`,
    fence('json', `${JSON.stringify(body, null, 2)}\n`),
    'MCP, `execute_command`, `Bash` and `shell_execute`:',
    fence('text', [execute, bash, shellExecute].join('\n')),
  ].join('\n\n');
}

async function say(error: NacreError, name: string): Promise<string> {
  const tool = Object.values(describeTools(error))
    .flat()
    .find((candidate) => candidate.name === name);
  const reply = await tool?.call(
    { command: 'x' },
    { caller: { door: 'mcp', client: 'docs' }, owner: 'docs' },
  );
  if (reply?.isError !== true) throw new Error(`${name} does not answer ${error.code} as an error.`);
  return `${reply.text.trimEnd()}\n`;
}

function policySection(): string {
  const rows = refusedExamples.map(([script, rules]) => {
    const { verdict, rule, reason, hint, remedy } = decideExample(script, rules);
    if (verdict === 'allow') throw new Error(`${script} is allowed.`);
    const shown = rules.list === undefined ? 'all programs' : rules.list.join(',') || 'nothing listed';
    return [code(script), shown, code(rule), reason, hint ?? remedy ?? ''];
  });
  return `## What the policy says\n\nJudged with the list of the second column; none of these commands was run.\n\n${table(['command', 'allowed', 'rule', 'sentence', 'next step'], rows)}`;
}

function httpSection(sources: ReadonlyMap<string, string>): string {
  const rows = listSentences(sources, 'HttpProblem').map(({ kind, message }) => [kind, code(message)]);
  return `## What HTTP refuses before there is a command\n\nThe body has only \`error\`. Braces stand for what is filled in.\n\n${table(['status', 'sentence'], rows.sort(byFirst))}`;
}

function listSection(sources: ReadonlyMap<string, string>): string {
  const rows = listSentences(sources, 'NacreError').map(({ kind, message, hint }) => [
    kind,
    code(message),
    code(hint),
  ]);
  const given = rows.filter(([kind = '']) => !kind.startsWith('{'));
  return `## Every sentence\n\nAs they stand in the sources; braces stand for what is filled in, and \` · \` parts alternatives.\n\n${table(['code', 'sentence', 'next step'], given.sort(byFirst))}`;
}

function byFirst([one = '']: readonly string[], [other = '']: readonly string[]): number {
  return one < other ? -1 : Number(one > other);
}
