import { defineDoor } from '../define-door.ts';
import type { DoorGroup } from '../door.ts';
import { jsonFlag, pathFlag, portFlag, switchFlag, textFlag } from '../flag-kinds.ts';

const forFlag = pathFlag('--for', 'Only in this project folder and below it.', 'everywhere');

/** Subcommands that reach running servers through their control sockets. */
export const controlCommands: DoorGroup = {
  allow: defineDoor({
    summary: 'Let agents run more programs.',
    details:
      'Adds programs to allowed_commands in your settings file, or with --for a rule for one project, and shows the lines that changed. Running servers apply it at once, unless their commands could have written the file.',
    usage: 'PROGRAM...',
    examples: [
      ['nacre allow docker kubectl', 'Allow two programs in every project.'],
      ['nacre allow terraform --for ~/infra', 'Allow a program in one project.'],
    ],
    flags: { json: jsonFlag, for: forFlag },
    load: async () => (await import('./allow-and-deny.ts')).allowDoor,
  }),
  deny: defineDoor({
    summary: 'Keep agents from running programs.',
    details:
      'Adds a rule to your settings file that no list overrides; nacre allow removes it. Running servers apply it at once, unless their commands could have written the file.',
    usage: 'PROGRAM...',
    examples: [
      ['nacre deny curl wget', 'Deny two programs, even where a list allows them.'],
      ['nacre deny npm --for .', 'Deny a program in the current project.'],
    ],
    flags: { json: jsonFlag, for: forFlag },
    load: async () => (await import('./allow-and-deny.ts')).denyDoor,
  }),
  status: defineDoor({
    summary: 'Show the running servers, their clients and what they allow.',
    usage: '',
    examples: [
      ['nacre status', 'List servers with their address, clients, sandbox and allowed programs.'],
      ["nacre status --json | jq '.[].address'", 'Print only the addresses.'],
    ],
    flags: { json: jsonFlag },
    onInvalidSettings: 'warn',
    load: async () => (await import('./status.ts')).statusDoor,
  }),
  ps: defineDoor({
    summary: 'List the commands of all servers, including ended ones.',
    usage: '',
    examples: [
      ['nacre ps', 'List commands with their time, memory and ports.'],
      ["nacre ps --json | jq '.[].id'", 'Print only the ids.'],
    ],
    flags: { json: jsonFlag },
    onInvalidSettings: 'warn',
    load: async () => (await import('./ps.ts')).psDoor,
  }),
  show: defineDoor({
    summary: 'Show one command: its caller, the decision and its output.',
    details:
      'The id is in nacre ps and nacre history; its first characters are enough if no other id has them.',
    usage: 'ID',
    examples: [
      ['nacre show cmd_4f9c1a20b7e3', 'Show the caller, the decision, the outcome and the output.'],
      ['nacre show 4f9c --json', 'Print the same with all audit records, for a script.'],
    ],
    flags: { json: jsonFlag },
    load: async () => (await import('./show.ts')).showDoor,
  }),
  logs: defineDoor({
    summary: 'Print the output of a command, even after its server has ended.',
    usage: 'ID',
    examples: [
      ['nacre logs cmd_4f9c1a20b7e3', 'Print all output so far.'],
      ['nacre logs -f build', 'Follow the command with the name build until it ends.'],
    ],
    flags: { follow: switchFlag(['--follow', '-f'], 'Keep printing until the command ends.') },
    onInvalidSettings: 'warn',
    load: async () => (await import('./logs.ts')).logsDoor,
  }),
  attach: defineDoor({
    summary: 'Connect this terminal to a command, even after its server ended.',
    details: 'Keys that you type go to the command; Ctrl-] detaches.',
    usage: 'ID',
    examples: [
      ['nacre attach cmd_4f9c1a20b7e3', 'Type into the command; Ctrl-] detaches.'],
      ['nacre attach repl', 'Attach to the command with the name repl.'],
    ],
    flags: {},
    onInvalidSettings: 'warn',
    load: async () => (await import('./attach.ts')).attachDoor,
  }),
  stop: defineDoor({
    summary: 'Stop a command, and every process it started.',
    usage: 'ID',
    examples: [
      ['nacre stop cmd_4f9c1a20b7e3', 'Stop a command by its id.'],
      ['nacre stop build', 'Stop the command with the name build.'],
    ],
    flags: {},
    onInvalidSettings: 'warn',
    load: async () => (await import('./stop.ts')).stopDoor,
  }),
  shutdown: defineDoor({
    summary: 'End the worker that keeps commands running, with its commands.',
    details: 'Commands and shells that outlive their server run in that worker; nacre ps lists them.',
    usage: '',
    examples: [
      ['nacre shutdown', 'End every command and shell that was kept.'],
      ['nacre shutdown --state-dir /srv/nacre', 'End those of this state folder.'],
    ],
    flags: {},
    onInvalidSettings: 'warn',
    load: async () => (await import('./shutdown.ts')).shutdownDoor,
  }),
  worker: defineDoor({
    summary: 'Show the worker that keeps commands running.',
    details: 'With attach, stdin and stdout are connected to it, for a server on another machine.',
    usage: '[attach]',
    examples: [
      ['nacre worker', 'Print its pid, its version and its folder.'],
      ['nacre worker attach', 'Connect stdin and stdout to it.'],
    ],
    flags: {},
    onInvalidSettings: 'warn',
    load: async () => (await import('./worker.ts')).workerDoor,
  }),
  port: defineDoor({
    summary: 'Open a port of a sandboxed command on 127.0.0.1.',
    details:
      'Without a port, nacre lists the ports that sandboxed commands listen on. A port closes with the command that listens on it.',
    usage: '[PORT]',
    examples: [
      ['nacre port 3000', 'Open http://localhost:3000 for a server that an agent has started.'],
      ['nacre port 3000 --to 8080', 'Open it on port 8080, because 3000 is in use.'],
      ['nacre port --close 8080', 'Close it again.'],
    ],
    flags: {
      json: jsonFlag,
      to: portFlag('--to', 'Port of 127.0.0.1 to open.', 'the same number'),
      for: textFlag('--for', 'Id or name of the command, or the connection, if several listen on the port.'),
      close: portFlag('--close', 'Close this port of 127.0.0.1.'),
    },
    load: async () => (await import('./port.ts')).portDoor,
  }),
  open: defineDoor({
    summary: 'Open the console of a running server in a browser.',
    details: 'The link works once, within ten minutes. Without a browser, nacre prints it.',
    usage: '[ADDRESS]',
    examples: [
      ['nacre open', 'Open the page of the server that nacre serve started.'],
      ['nacre open 8080 --print', 'Print a link to the server on port 8080.'],
      ['nacre open --viewer --print', 'Print a link with read-only access.'],
    ],
    flags: {
      print: switchFlag('--print', 'Print the link instead of opening it.'),
      viewer: switchFlag('--viewer', 'Make a link to a read-only page.'),
    },
    load: async () => (await import('./open.ts')).openDoor,
  }),
  approvals: defineDoor({
    summary: 'List, approve or deny the commands that wait for approval.',
    usage: '[approve ID | deny ID]',
    examples: [
      ['nacre approvals', 'List the commands that are waiting.'],
      ['nacre approvals approve apr_4f9c1a20b7e3', 'Let one of them run.'],
    ],
    flags: { json: jsonFlag },
    onInvalidSettings: 'warn',
    load: async () => (await import('./approvals.ts')).approvalsDoor,
  }),
  pause: defineDoor({
    summary: 'Stop all commands and refuse new ones until nacre resume.',
    details: 'This applies to every running server, and to nacre run.',
    usage: '',
    examples: [
      ['nacre pause', 'Stop everything now.'],
      ['nacre pause --state-dir /srv/nacre', 'Stop only the servers that use this state folder.'],
    ],
    flags: {},
    onInvalidSettings: 'warn',
    load: async () => (await import('./pause-and-resume.ts')).pauseDoor,
  }),
  resume: defineDoor({
    summary: 'Allow commands to run again after nacre pause.',
    usage: '',
    examples: [
      ['nacre resume', 'Allow commands again.'],
      ['nacre resume --state-dir /srv/nacre', 'Allow them on the servers that use this state folder.'],
    ],
    flags: {},
    onInvalidSettings: 'warn',
    load: async () => (await import('./pause-and-resume.ts')).resumeDoor,
  }),
};

/** Removes nacre. It is a set-up command, but ends running servers, which are found by their control sockets. */
export const uninstallCommand: DoorGroup = {
  uninstall: defineDoor({
    summary: 'Remove nacre: client entries, state, token and settings.',
    details:
      'It lists what it would remove and asks first. It ends running servers, and prints how to remove the package.',
    usage: '',
    examples: [
      ['nacre uninstall', 'List what would be removed, and ask.'],
      ['nacre uninstall --yes --keep-settings', 'Ask nothing, and leave your settings file.'],
    ],
    flags: {
      yes: switchFlag(['--yes', '-y'], 'Ask no questions.'),
      keepSettings: switchFlag('--keep-settings', 'Keep the settings file.'),
    },
    // Invalid settings must not prevent `nacre uninstall`.
    onInvalidSettings: 'report',
    load: async () => (await import('./uninstall.ts')).uninstallDoor,
  }),
};
