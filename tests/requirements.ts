/** A requirement, and whether it is implemented. */
export interface Requirement {
  readonly text: string;
  /** True once it is implemented; then at least one test must cite its id. */
  readonly built: boolean;
}

/**
 * Every requirement by id. T: terminal tools, S: shell_execute, B: Bash tools, H: HTTP, P: policy,
 * E: the engine behind every door. Tests cite the ids that they verify.
 */
export const requirements: Readonly<Record<string, Requirement>> = {
  T1: {
    built: true,
    text: 'execute_command accepts command, input, cwd, env, timeout_ms (1 to 600000, default 55000, or 120000 for clients known to wait longer; operators can set both limits), on_timeout (kill or background, default kill) and max_output_chars; input is written to stdin, which is then closed, and without input stdin is at EOF from the start.',
  },
  T2: {
    built: true,
    text: 'The reply is one YAML document that begins with exit_code, stdout and stderr; further keys are present only if they carry information. Strings are block literals or double-quoted, so that YAML 1.1 and 1.2 parsers read the same text. structuredContent has the same data and matches the outputSchema. A non-zero exit is a result, not an error.',
  },
  T3: {
    built: true,
    text: 'The description of execute_command says that it is for short-lived, non-interactive commands and names start_command for the others.',
  },
  T4: {
    built: true,
    text: 'A timeout is an error with the same first keys (exit_code null), the output so far, an error and a hint that the command may be waiting for input and that start_command exists; the whole process tree is gone before the reply.',
  },
  T5: {
    built: true,
    text: 'ALLOWED_COMMANDS is a comma-separated list with blanks trimmed, and * allows all; unset or empty allows nothing, and the refusal says how to set it. A refusal names the program and contains "not allowed", and nothing has run.',
  },
  T6: {
    built: true,
    text: 'The list applies to every program that the command could run, not only to its first word.',
  },
  T7: {
    built: true,
    text: "cwd may be relative to the server's directory or absolute; it must exist and be a directory, otherwise nothing runs; without it the server's working directory is used.",
  },
  T8: {
    built: true,
    text: 'ALLOWED_CWD_ROOTS compares canonical paths on both sides; unset or empty restricts nothing; a root that cannot be resolved is a configuration error for every request with cwd, but the server starts and prints a warning.',
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
    text: 'shell_execute accepts command (not empty), working_directory, timeout (whole seconds, 1 to 1800, default 300) and environment (a map of strings).',
  },
  S2: {
    built: true,
    text: 'In process it replies with content, is_error and metadata, with exactly the specified keys and at most resources, enforcement, id, truncated and signal in addition; over MCP the first text is the specified sentence, the second the metadata as JSON, and structuredContent is the metadata.',
  },
  S3: {
    built: true,
    text: 'A non-zero exit returns is_error true and "Command failed with exit code N".',
  },
  S4: {
    built: true,
    text: 'A timeout returns "Command timed out after N seconds" with timeout_seconds, partial_stdout and partial_stderr, and the tree is killed.',
  },
  S5: {
    built: true,
    text: 'Command not found, permission denied, exhausted resources and invalid parameters each have their own message with details; all invalid parameters are listed in one reply.',
  },
  S6: {
    built: true,
    text: 'Every command is recorded with time, caller, decision and rule, cwd, outcome, duration, byte counts and a digest of its output; the log is append-only, tamper-evident, verifiable and free of secrets, and a command that cannot be recorded does not run.',
  },
  S7: {
    built: true,
    text: "CPU time and peak memory of the command's whole process tree are in the metadata as resources, and visible while it runs.",
  },
  S8: {
    built: true,
    text: 'Command filtering, working-directory restriction and environment filtering can be configured for shell_execute as for the other tools.',
  },
  S9: {
    built: true,
    text: 'A workflow runs its steps in order; a step can use the output of an earlier one as stdin or environment, never as shell text; a failed step stops the workflow unless it is configured to continue, and an abort kills the running process tree and skips the rest.',
  },
  S10: {
    built: true,
    text: 'Logging is structured and goes to stderr, with one id per command that is the same in reply, audit log, metrics and traces.',
  },

  B1: {
    built: true,
    text: 'All fifty scenarios of the Bash specification run as feature files in their own words.',
  },
  B2: {
    built: true,
    text: 'In process a result has success, output, error and metadata, and a failed command still has its output.',
  },
  B3: {
    built: true,
    text: 'Bash accepts command, description, timeout (1000 to 600000 ms, default 120000), run_in_background and session; one persistent bash per context keeps directory, variables, functions, options and aliases. A timeout applies to a background shell only if specified, and the state is then timeout.',
  },
  B4: {
    built: true,
    text: 'After exit, exec, set -e with a failure, kill -9 $$ or a deleted directory the call reports what happened, and the next call gets a working shell with directory, exports, functions, aliases and options restored, but never errexit or traps, and reports that.',
  },
  B5: {
    built: true,
    text: 'stdout and stderr are captured separately; the text has stderr after a line [stderr].',
  },
  B6: {
    built: true,
    text: 'Output over 30000 characters keeps its beginning and its end, 30000 characters in total, with one notice that starts with "[Output truncated" and says how many characters are left out and how to read them; metadata.truncated is true.',
  },
  B7: {
    built: true,
    text: 'Cancelling a call sends SIGINT, then escalates, and the session survives.',
  },
  B8: {
    built: true,
    text: 'Neighbouring unquoted words that together name an existing path, while none alone does, are quoted, but never for programs that delete or overwrite; policy decides on the rewritten command, and metadata.rewritten_command shows it. A working directory with spaces works.',
  },
  B9: {
    built: true,
    text: 'A dry run gets a policy decision, then returns "[Dry Run] Would execute: …", and nothing runs.',
  },
  B10: {
    built: true,
    text: 'The error for a blocked command contains "blocked", "dangerous" and the reason of the rule.',
  },
  B11: {
    built: true,
    text: 'BashOutput returns only new output, its first 30000 characters, and the rest stays unread; an invalid filter is an error before anything is consumed, and lines that a filter excludes count as read. A filter is a JavaScript RegExp that is stopped after one second.',
  },
  B12: {
    built: true,
    text: 'KillShell kills the whole process tree and confirms that it is gone; for a shell that has already stopped it succeeds.',
  },
  B13: {
    built: true,
    text: 'ShellManager is one instance with createShell, getShell, listShells, listRunning, cleanupCompleted, killAll and reset, and its shells have the six states pending, running, completed, failed, timeout and killed; it is only a facade over the sessions of the engine.',
  },
  B14: {
    built: true,
    text: 'ListShells is a tool that returns the list of shells.',
  },
  B15: {
    built: true,
    text: 'registerExecutionTools fills a registry, and getAllSchemas returns the schemas for each vendor, in the category execution.',
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
    text: 'ALLOWED_CWD_ROOTS applies to the directory of the context and of the session: a call that ends outside reports it, and the next one starts in the last allowed directory.',
  },

  H1: {
    built: true,
    text: 'POST /api/shell accepts command, args and cwd and runs without a shell; cwd is absolute, exists and is a directory.',
  },
  H2: {
    built: true,
    text: 'Checks run in the order 401, 403 for Host or Origin, 413, 415, 400, 403 for policy; then the response is 200 with stdout, stderr and code for any exit code, 408 with the partial output, or 500 for a program not found or output over the limit. Every error body has a sentence in error; additional keys replace no specified key; a file that is not executable returns 200 with code 126.',
  },
  H3: {
    built: true,
    text: 'VT sequences are stripped even if split between chunks, CRLF becomes LF, a bare CR leaves the text that a terminal would finally show, and UTF-8 survives any chunking, with U+FFFD for invalid bytes.',
  },
  H4: {
    built: true,
    text: 'EXEC_TIMEOUT_MS (60000) and EXEC_MAX_BUFFER_BYTES (10 MiB per stream) stop the process tree with SIGTERM, then SIGKILL; a WebSocket run is limited by the spool quota, and by a timeout only on request.',
  },
  H5: {
    built: true,
    text: 'SHELL_ALLOWLIST has the seventeen specified names by default; arguments are data, but programs named inside them are checked.',
  },
  H6: {
    built: true,
    text: 'Sensitive directories (/proc, /sys, /dev, /boot, /etc, ~/.ssh, ~/.gnupg, ~/.aws, ~/.kube, ~/.docker) are refused as cwd with 403, even through symlinks and "..".',
  },
  H7: {
    built: true,
    text: 'The WebSocket /api/shell/stream carries many commands, each message with its id; a slow reader never makes the memory of the server grow, and reconnecting with a cursor neither loses nor repeats output; a command whose socket has closed is kept for 60 s.',
  },
  H8: {
    built: true,
    text: "Each applet is a folder served on its own origin, may run only the programs that it declares and the server's list allows, and cannot impersonate another applet; without a shell: permission it runs nothing.",
  },
  H9: {
    built: true,
    text: 'shell.run with pty opens an interactive terminal.',
  },
  H10: {
    built: true,
    text: 'The server listens on loopback by default; a caller needs a token, or is a page that the server itself served, with an exactly matching Origin; a foreign Host or Origin gets 403, and nothing can be read or run across origins.',
  },

  P1: {
    built: true,
    text: 'Builtins count as programs; keywords do not, nor do control builtins that run and print nothing, but commands inside them are still checked.',
  },
  P2: {
    built: true,
    text: 'A wrapper and the program that it runs must both be listed.',
  },
  P3: {
    built: true,
    text: "A bare name is checked by name, regardless of where the server's PATH finds it; a path matches a listed name only in the system's program directories, or when it is listed literally.",
  },
  P4: {
    built: true,
    text: 'Shell text that a command passes on is checked recursively; text that cannot be known is refused under a finite list and allowed under * unless it is visibly dangerous. source FILE counts as an interpreter that runs a file.',
  },
  P5: {
    built: true,
    text: 'A listed interpreter may run files; inline code that visibly starts a program is refused.',
  },
  P6: {
    built: true,
    text: "A command name that cannot be known is refused under a finite list; the command's own functions are allowed if their bodies are.",
  },
  P7: {
    built: true,
    text: 'Under a finite list, variables that select code to run are refused, both in the command and in the env fields of tools; variables that are only data are allowed.',
  },
  P8: {
    built: true,
    text: 'Dangerous commands are refused under every list: recursive delete or chmod 777 on root, home or a top-level system directory, writes to disk devices, mkfs, fork bombs, kill -1; danger is block (default) or off.',
  },
  P9: {
    built: true,
    text: 'A command that does not parse, or that exceeds the limits on size or depth, is refused: exceeding a limit never allows anything.',
  },
  P10: {
    built: true,
    text: 'Words inside quotes, comments, quoted heredocs and arguments of harmless programs are not commands.',
  },
  P11: {
    built: true,
    text: 'confirm is never (default) or unlisted, which asks about every command that is neither denied nor on the list of commands allowed without confirmation.',
  },
  P12: {
    built: true,
    text: 'Terminal tools use ALLOWED_COMMANDS and refuse everything while it is unset; shell_execute, the Bash tools and the CLI use it if it is set, otherwise *; HTTP uses SHELL_ALLOWLIST. Families served together use the strictest list, and danger always applies.',
  },
  P13: {
    built: true,
    text: 'In a persistent session the directory, aliases, functions, options and PATH of the session are part of the decision; a name whose meaning there is unknown is refused under a finite list.',
  },

  E1: {
    built: true,
    text: "A call ends when the command's own process exits, not when the last process closes its output; processes that still run are reported, and killed after a one-shot command, while those of a session keep running.",
  },
  E2: {
    built: true,
    text: "No descendant outlives a timeout, a kill, a cancel, the server's exit or its SIGKILL, even if it tries to escape, and there are no zombies. Background commands and persistent shells that outlive their server by the setting outlive end with its worker instead.",
  },
  E3: {
    built: true,
    text: 'Memory stays flat regardless of how much a command writes; older output is on disk within a quota, readable by byte cursor, and at the quota the command is killed and the reply says so.',
  },
  E4: {
    built: true,
    text: 'No byte of output is lost, duplicated or reordered within a stream; > /dev/stdout and tee /dev/stderr work.',
  },
  E5: {
    built: true,
    text: "Children get the server's environment without nacre's own tokens and variables that look secret, unless the settings pass them on; a failed command's reply names the withheld variables. Commands cannot read nacre's sockets, settings, audit or token files where those can be hidden; otherwise that is reported as a gap, and approval from another terminal is off.",
  },
  E6: {
    built: true,
    text: 'Invalid input gets a clear error that names the field, and nothing runs; a command of 200 KB is not too long.',
  },
  E7: {
    built: true,
    text: 'Children get NO_COLOR=1 TERM=dumb PAGER=cat GIT_PAGER=cat GIT_TERMINAL_PROMPT=0 and a UTF-8 locale, unless they run in a PTY or the caller sets them.',
  },
  E8: {
    built: true,
    text: 'Settings come from flags, environment, a project file and a user file; each is declared once, and an invalid one stops the start with its name and the accepted values. A project file can only tighten.',
  },
  E9: {
    built: true,
    text: "A server with a bare PATH reads the login shell's environment once, within a time limit, caches it and shows it in doctor; bash must be 4.4 or newer, and the message names the remedy.",
  },
};
