const toolNames =
  /\b(?:execute_command|start_command|read_output|write_input|stop_command|list_commands|check_command|shell_execute|BashOutput|KillShell|ListShells)\b/g;

/** Puts the setting `tool_prefix` before the names of tools in one of nacre's own sentences. */
export function nameTools(prefix: string | undefined, sentence: string): string {
  return prefix === undefined || prefix === ''
    ? sentence
    : sentence.replace(toolNames, (name) => `${prefix}${name}`);
}
