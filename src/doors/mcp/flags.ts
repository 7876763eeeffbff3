import { pathFlag } from '../flag-kinds.ts';

/** The flags of `nacre mcp`, besides the settings. */
export const mcpFlags = {
  cwd: pathFlag('--cwd', 'Directory to serve in, as if nacre had been started there.'),
};
