// Runs a command in a directory that an ordinary user cannot enter.
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { NacreError } from '../../src/contract/failure.ts';
import { createTestEngine } from '../support/engine.ts';
import { becomeOrdinaryUser } from '../support/ordinary-user.ts';
import { report } from './report.ts';

becomeOrdinaryUser();
const here = createTestEngine();
mkdirSync(join(here.folder, 'closed'), { mode: 0o600 });
const found = await here.run(`touch ${here.folder}/made`, { cwd: 'closed' }).catch((error: unknown) => error);
const { code, message } = found instanceof NacreError ? found : { code: 'none', message: String(found) };
report({ code, message, ran: existsSync(join(here.folder, 'made')) });
await here.close();
