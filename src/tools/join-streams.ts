/** Both streams as one text. */
export function joinStreams(stdout: string, stderr: string): string {
  if (stderr === '') return stdout;
  const border = stdout === '' || stdout.endsWith('\n') ? '' : '\n';
  return `${stdout}${border}[stderr]\n${stderr}`;
}
