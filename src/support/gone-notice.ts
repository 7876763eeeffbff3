/** The sentence that takes the place of removed output (`ReadResult.goneBefore`). */
export function goneNotice(bytes: number): string {
  return `[${bytes} bytes of output are gone: running commands needed the space (spool_total_bytes).]\n`;
}
