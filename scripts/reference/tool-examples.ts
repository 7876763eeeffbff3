/** A tool call and its reply. The calls of a family run in this order; `ID` is replaced by the latest command id. */
export interface ToolExample {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly reply: string;
}

const unknownChanges = `error: "No changes are kept for \\"ID\\"."
code: "job_not_found"
hint: "List the kept changes; the oldest are removed first when they need too much space."
No changes are kept for "ID".`;

/** Examples for every tool, which tests/tool-examples.test.ts runs. Times and amounts are shown as `N`. */
export const toolExamples: readonly ToolExample[] = [
  { tool: 'Bash', input: { command: 'cd /usr && name=world' }, reply: '' },
  {
    tool: 'Bash',
    input: { command: 'echo "hello $name from $PWD"' },
    reply: 'hello world from /usr\n',
  },
  {
    tool: 'Bash',
    input: { command: 'echo ready; sleep 60', run_in_background: true },
    reply: `Started background shell ID
Read its output with BashOutput (bash_id ID), kill it with KillShell.`,
  },
  {
    tool: 'ListShells',
    input: {},
    reply: 'ID  running  Nms  echo ready; sleep 60\nsession main  ready  /usr',
  },
  { tool: 'KillShell', input: { shell_id: 'ID' }, reply: 'Shell ID terminated' },
  {
    tool: 'BashOutput',
    input: { bash_id: 'ID' },
    reply: 'ready\nStatus: killed\nExit code: 143\nDuration: Nms',
  },
  {
    tool: 'execute_command',
    input: { command: 'echo hello; echo oops >&2; exit 3' },
    reply: 'exit_code: 3\nstdout: |\n  hello\nstderr: |\n  oops\n',
  },
  {
    tool: 'execute_command',
    input: { command: 'echo one; sleep 60', timeout_ms: 500 },
    reply: `exit_code: null
error: "Command timed out after 500 ms and was killed with everything it had started."
signal: "SIGTERM"
stdout: |
  one
stderr: ""
hint: "It may be waiting for input: pass it in \`input\`, or use start_command for interactive or long-running commands. A larger timeout_ms (up to 600000) also helps."
`,
  },
  {
    tool: 'start_command',
    input: {
      command: 'echo "Name?"; read -r name; echo "Hello $name"; sleep 60',
      name: 'greeter',
      wait_ms: 10_000,
    },
    reply: `command_id: "ID"
name: "greeter"
status: "running"
reason: "awaiting_input"
awaiting_input: true
prompt: "Name?"
cursor: 6
stdout: |
  Name?
stderr: ""
`,
  },
  {
    tool: 'write_input',
    input: { command_id: 'greeter', text: 'Ann\n', wait_for: 'Hello', wait_ms: 10_000 },
    reply: `command_id: "ID"
name: "greeter"
status: "running"
reason: "matched"
cursor: 16
stdout: |
  Hello Ann
stderr: ""
`,
  },
  {
    tool: 'read_output',
    input: { command_id: 'greeter', cursor: 0, wait_ms: 0 },
    reply: `command_id: "ID"
name: "greeter"
status: "running"
reason: "waited"
cursor: 16
stdout: |
  Name?
  Hello Ann
stderr: ""
`,
  },
  {
    tool: 'list_commands',
    input: {},
    reply: `commands:
  - {command_id: "ID", name: "greeter", command: "echo \\"Name?\\"; read -r name; echo \\"Hello $name\\"; sleep 60", cwd: "/", status: "running", age_ms: N, cpu_ms: N, memory_bytes: N}
`,
  },
  {
    tool: 'stop_command',
    input: { command_id: 'greeter' },
    reply: `command_id: "ID"
name: "greeter"
status: "killed"
exit_code: 130
signal: "SIGINT"
reason: "ended"
cursor: 16
stdout: ""
stderr: ""
`,
  },
  {
    tool: 'check_command',
    input: { command: 'rm -rf /' },
    reply: `verdict: "deny"
rule: "recursive_delete"
reason: "rm is blocked as dangerous: it deletes the root directory."
hint: "Name a narrower target, or ask the user how to proceed."
remedy: "Set danger to off."
programs:
  - {name: "rm", at: "0-2", path: "/usr/bin/rm"}
`,
  },
  {
    tool: 'shell_execute',
    input: { command: 'ls missing' },
    reply: `[stderr]
ls: cannot access 'missing': No such file or directory
Command failed with exit code 2`,
  },
  { tool: 'list_changes', input: {}, reply: 'changes: []\n' },
  { tool: 'show_changes', input: { id: 'cmd_4f9c1a20b7e3' }, reply: unknownChanges },
  { tool: 'apply_changes', input: { id: 'cmd_4f9c1a20b7e3' }, reply: unknownChanges },
  { tool: 'discard_changes', input: { id: 'cmd_4f9c1a20b7e3' }, reply: unknownChanges },
  { tool: 'undo_changes', input: { id: 'cmd_4f9c1a20b7e3' }, reply: unknownChanges },
];
