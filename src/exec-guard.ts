import { runGuard } from './worker/exec/guard.ts';

process.exitCode = await runGuard(process.argv.slice(2));
