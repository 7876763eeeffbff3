import { runGuard } from './worker/guard/guard.ts';

process.exitCode = await runGuard(process.argv.slice(2));
