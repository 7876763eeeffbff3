/** Something that must hold, and whether it does yet. */
export interface Requirement {
  readonly text: string;
  /** True once it holds; a test that cites the id must then exist. */
  readonly built: boolean;
}

/**
 * Every requirement by its id. T: terminal tools, S: shell_execute, B: Bash tools, H: HTTP, P: policy,
 * E: the engine behind every door. Tests name the ids that they prove.
 */
export const requirements: Readonly<Record<string, Requirement>> = {
  T1: {
    built: true,
    text: 'execute_command takes command, input, cwd, env, timeout_ms (1 to 600000, default 30000), on_timeout (kill or background, default kill) and max_output_chars; input goes to stdin, which is then closed, and without input stdin is at its end from the start.',
  },
  T2: {
    built: true,
    text: 'The reply is one YAML document that begins with exit_code, stdout and stderr; further keys stand only where they say something. Strings are block literals or double-quoted, so that YAML 1.1 and 1.2 readers see the same text. structuredContent carries the same under an outputSchema. A non-zero exit is a result, not an error.',
  },
  T3: {
    built: true,
    text: 'The description of execute_command says that it is for short, non-interactive commands and names start_command for the others.',
  },
  T4: {
    built: true,
    text: 'A timeout is an error with the same first keys (exit_code null), the output so far, an error and a hint that the command may be waiting for input and that start_command exists; the whole process tree is gone before the reply.',
  },
  T5: {
    built: true,
    text: 'ALLOWED_COMMANDS is a comma list, blanks trimmed, and * allows all; unset or empty allows nothing and the refusal says how to set it. A refusal names the program, contains "not allowed", and nothing has run.',
  },
  T6: {
    built: true,
    text: 'The list governs every program that the command could run, not only its first word.',
  },
  T7: {
    built: true,
    text: "cwd may be relative to the server's directory or absolute; it must exist and be a directory, else nothing runs; without it the server's own directory is used.",
  },
  T8: {
    built: true,
    text: 'ALLOWED_CWD_ROOTS compares canonical paths on both sides; unset or empty restricts nothing; one root that cannot be resolved is a configuration error for every request that gives cwd, while the server starts and warns.',
  },
  T9: {
    built: true,
    text: 'start_command, read_output, write_input, stop_command, list_commands and check_command serve long-running and interactive commands under the same policy as execute_command; check_command explains a decision and runs nothing.',
  },
  T10: {
    built: true,
    text: 'No tool can change policy or settings.',
  },

  S1: {
    built: true,
    text: 'shell_execute takes command (not empty), working_directory, timeout (whole seconds, 1 to 1800, default 300) and environment (a map of strings).',
  },
  S2: {
    built: true,
    text: 'In process it replies with content, is_error and metadata, with exactly the specified keys and at most resources, enforcement, id, truncated and signal beside them; over MCP the first text is the specified sentence, the second the metadata as JSON, and structuredContent is the metadata.',
  },
  S3: {
    built: true,
    text: 'A non-zero exit gives is_error true and "Command failed with exit code N".',
  },
  S4: {
    built: true,
    text: 'A timeout gives "Command timed out after N seconds" with timeout_seconds, partial_stdout and partial_stderr, and the tree is killed.',
  },
  S5: {
    built: true,
    text: 'Command not found, permission denied, exhausted resources and invalid parameters each have a message of their own with details; invalid parameters are all listed at once.',
  },
  S6: {
    built: true,
    text: 'Every command is recorded with time, caller, decision and rule, cwd, outcome, duration, byte counts and a digest of its output; the record is append-only, tamper-evident, verifiable and free of secrets, and what cannot be recorded is not run.',
  },
  S7: {
    built: true,
    text: "CPU time and peak memory of the command's whole tree are in the metadata as resources, and visible while it runs.",
  },
  S8: {
    built: true,
    text: 'Command filtering, working-directory restriction and environment filtering can be configured for shell_execute as for the other tools.',
  },
  S9: {
    built: true,
    text: 'A workflow runs its steps in order; a step can take the output of an earlier one as stdin or environment, never as shell text; a failed step stops the rest unless it says otherwise, and an abort ends the running tree and skips the rest.',
  },
  S10: {
    built: true,
    text: 'Logging is structured and on stderr, with one id per command that is the same in reply, audit, metrics and traces.',
  },

  B1: {
    built: true,
    text: 'All fifty scenarios of the Bash specification run as feature files in their own words.',
  },
  B2: {
    built: true,
    text: 'In process a result is success, output, error and metadata, and a failed command keeps its output.',
  },
  B3: {
    built: true,
    text: 'Bash takes command, description, timeout (1000 to 600000 ms, default 120000), run_in_background and session; one persistent bash per context keeps directory, variables, functions, options and aliases. A timeout binds a background shell only when given, and its state is then timeout.',
  },
  B4: {
    built: true,
    text: 'After exit, exec, set -e with a failure, kill -9 $$ or a deleted directory the call reports what happened, and the next one finds a working shell with its directory, exports, functions, aliases and options restored, never errexit or traps, and says so.',
  },
  B5: {
    built: true,
    text: 'stdout and stderr are captured apart; the text shows stderr after a line [stderr].',
  },
  B6: {
    built: true,
    text: 'Of more than 30000 characters the beginning and the end are kept, 30000 together, with one notice that starts "[Output truncated", says how many are left out and how to read them; metadata.truncated is true.',
  },
  B7: {
    built: true,
    text: 'Cancelling a call sends SIGINT, then escalates, and the session lives on.',
  },
  B8: {
    built: true,
    text: 'Neighbouring unquoted words that together name an existing path, while none alone does, are quoted, never for programs that delete or overwrite; policy judges the rewritten command and metadata.rewritten_command shows it. A working directory with spaces works.',
  },
  B9: {
    built: true,
    text: 'A dry run asks policy, then says "[Dry Run] Would execute: …", and nothing runs.',
  },
  B10: {
    built: true,
    text: 'The error for a blocked command contains "blocked" and "dangerous" and the reason of the rule.',
  },
  B11: {
    built: true,
    text: 'BashOutput gives new output only, the first 30000 characters of it, and the rest stays unread; an invalid filter is an error before anything is consumed, and lines that a filter leaves out count as read. A filter is a JavaScript RegExp that is stopped after one second.',
  },
  B12: {
    built: true,
    text: 'KillShell ends the whole tree and confirms its death; a shell that has already stopped is a success.',
  },
  B13: {
    built: true,
    text: 'ShellManager is one instance with createShell, getShell, listShells, listRunning, cleanupCompleted, killAll and reset, and its shells have the six states pending, running, completed, failed, timeout and killed; it is a facade over the sessions of the engine and nothing more.',
  },
  B14: {
    built: true,
    text: 'ListShells offers the list of shells as a tool.',
  },
  B15: {
    built: true,
    text: 'registerExecutionTools fills a registry, and getAllSchemas gives the schemas of each vendor, in the category execution.',
  },
  B16: {
    built: true,
    text: 'Tests cover at least 90 % of lines, branches, functions and statements.',
  },
  B17: {
    built: true,
    text: 'Output of a long-running command reaches the caller while it runs: onOutput in process, progress notifications over MCP.',
  },
  B18: {
    built: true,
    text: 'A command starts within 50 ms (median overhead), and new output reaches a reader within 100 ms.',
  },
  B19: {
    built: true,
    text: 'ALLOWED_CWD_ROOTS binds the directory of the context and of the session: a call that ends outside says so, and the next starts in the last allowed one.',
  },

  H1: {
    built: true,
    text: 'POST /api/shell takes command, args and cwd and runs without a shell; cwd is absolute, exists and is a directory.',
  },
  H2: {
    built: true,
    text: 'Checks come in the order 401, 403 for Host or Origin, 413, 415, 400, 403 for policy; then 200 with stdout, stderr and code whatever the exit code, 408 with the partial output, 500 for a program not found or output over the limit. Every error body has error, a sentence; additions replace no specified key; a file that may not be executed is 200 with code 126.',
  },
  H3: {
    built: true,
    text: 'VT sequences are stripped also when split between chunks, CRLF becomes LF, a bare CR gives the text that a terminal would finally show, and UTF-8 survives any chunking with U+FFFD for invalid bytes.',
  },
  H4: {
    built: true,
    text: 'EXEC_TIMEOUT_MS (60000) and EXEC_MAX_BUFFER_BYTES (10 MiB per stream) end the tree with SIGTERM, then SIGKILL; a WebSocket run has the quota of the spool, and a timeout only on request.',
  },
  H5: {
    built: true,
    text: 'SHELL_ALLOWLIST has the seventeen specified names by default; arguments are data, but programs named inside them are judged.',
  },
  H6: {
    built: true,
    text: 'Sensitive directories (/proc, /sys, /dev, /boot, /etc, ~/.ssh, ~/.gnupg, ~/.aws, ~/.kube, ~/.docker) are refused as cwd with 403, also through symlinks and "..".',
  },
  H7: {
    built: true,
    text: 'The WebSocket /api/shell/stream carries many commands, each message with its id; a slow reader never makes the server grow, and reconnecting with a cursor loses and repeats nothing; a command whose socket is gone is kept for 60 s.',
  },
  H8: {
    built: true,
    text: "Each applet is a folder served on an origin of its own, may run only what it declares within the server's list, and cannot pass for another; without a shell: permission it runs nothing.",
  },
  H9: {
    built: true,
    text: 'shell.run with pty gives an interactive terminal.',
  },
  H10: {
    built: true,
    text: 'Loopback by default; callers need a token, or be a page that the server itself served, with an exactly matching Origin; a foreign Host or Origin is 403, and nothing is readable or runnable across origins.',
  },

  P1: {
    built: true,
    text: 'Builtins count as programs; keywords do not, nor do the control builtins that run and print nothing, whose contents are still judged.',
  },
  P2: {
    built: true,
    text: 'A wrapper and what it runs must both be listed.',
  },
  P3: {
    built: true,
    text: "A bare name is judged by name, wherever the server's own PATH finds it; a path matches a listed name only in the system's program directories, or when it is listed literally.",
  },
  P4: {
    built: true,
    text: 'Shell text that is handed on is judged recursively; text that cannot be known is refused under a finite list and passes under * unless danger is visible. source FILE is an interpreter that runs a file.',
  },
  P5: {
    built: true,
    text: 'A listed interpreter may run files; inline code that visibly starts a program is refused.',
  },
  P6: {
    built: true,
    text: 'A command name that cannot be known is refused under a finite list; own functions pass when their bodies do.',
  },
  P7: {
    built: true,
    text: 'Under a finite list, variables that choose code are refused, in the command and in the env fields of tools alike; variables that are data pass.',
  },
  P8: {
    built: true,
    text: 'Danger is refused under every list: recursive delete or 777 on root, home or a top-level system directory, writes to disk devices, mkfs, fork bombs, kill -1; danger is block (default) or off.',
  },
  P9: {
    built: true,
    text: 'What does not parse, or is larger or deeper than the limits, is refused: a limit never opens.',
  },
  P10: {
    built: true,
    text: 'Words inside quotes, comments, quoted heredocs and arguments of harmless programs are not commands.',
  },
  P11: {
    built: true,
    text: 'confirm is never (default) or unlisted, which asks about whatever is neither denied nor on the list of commands that are allowed without confirmation.',
  },
  P12: {
    built: true,
    text: 'Terminal tools go by ALLOWED_COMMANDS and refuse all while it is unset; shell_execute, the Bash tools and the CLI go by it when it is set, else by *; HTTP goes by SHELL_ALLOWLIST. Families served together share the strictest, and danger always applies.',
  },
  P13: {
    built: true,
    text: 'In a persistent session the directory, aliases, functions, options and PATH of the session are facts of the decision; a name whose meaning there is unknown is refused under a finite list.',
  },

  E1: {
    built: true,
    text: "A call ends when the command's own process ends, not when the last holder of its output does; what still runs is reported, and ended with a one-shot command, while a session's lives on.",
  },
  E2: {
    built: true,
    text: "No descendant outlives a timeout, a kill, a cancel, the server's exit or its SIGKILL, whatever it did to get away, and there are no zombies.",
  },
  E3: {
    built: true,
    text: 'Memory stays flat however much a command writes; the rest is on disk within a quota, readable by byte cursor, and at the quota the command is ended and told so.',
  },
  E4: {
    built: true,
    text: 'Not one byte of output is lost, doubled or reordered within a stream; > /dev/stdout and tee /dev/stderr work.',
  },
  E5: {
    built: true,
    text: "Children get the server's environment less nacre's own tokens and whatever looks secret, unless the settings pass it on; a failed command's reply names what was withheld. Commands cannot read nacre's sockets, settings, audit or token files where those can be hidden, and where not, that is a named gap and approval from another terminal is off.",
  },
  E6: {
    built: true,
    text: 'Invalid input gets a clear error that names the field, and nothing runs; a command of 200 KB is not over-long.',
  },
  E7: {
    built: true,
    text: 'Children get NO_COLOR=1 TERM=dumb PAGER=cat GIT_PAGER=cat GIT_TERMINAL_PROMPT=0 and a UTF-8 locale, unless they run in a PTY or the caller sets them.',
  },
  E8: {
    built: true,
    text: 'Settings come from flags, environment, a project file and a user file; each is declared once, and a wrong one stops the start with its name and the accepted values. A project file can only tighten.',
  },
  E9: {
    built: true,
    text: "A server with a bare PATH takes the login shell's environment once, within a time limit, caches it and shows it in doctor; bash must be 4.4 or newer, and the message names the remedy.",
  },
};
