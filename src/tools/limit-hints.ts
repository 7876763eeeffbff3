const printLess = 'Write the output to a file, or print less of it with head, tail or grep.';

/** What to do about a command that a limit has ended, by the cause of its end. */
export const limitHints = {
  oom: 'Work on less at a time, or ask whoever runs nacre for more memory (memory_bytes, tree_memory_bytes).',
  cpu: 'Do less in one command, or ask whoever runs nacre for more CPU time (cpu_seconds).',
  processes:
    'Start fewer at a time (make -j2), or ask whoever runs nacre for more processes (max_processes).',
  file_size: 'Write smaller files, or ask whoever runs nacre for larger ones (file_bytes).',
  output_limit: printLess,
  spool_failed: printLess,
};
