// Inspects a directory that an ordinary user cannot enter.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { toPlace } from '../../src/worker/machine/inspect.ts';
import { becomeOrdinaryUser } from '../support/ordinary-user.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { report } from './report.ts';

becomeOrdinaryUser();
const folder = temporaryFolder();
mkdirSync(join(folder, 'closed'), { mode: 0o600 });
report(await toPlace('closed', folder));
rmSync(folder, { recursive: true });
