// Commands of an ordinary user, in layers that the fork server has mounted.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compareNamespaces } from '../support/compare-namespaces.ts';
import { becomeOrdinaryUser } from '../support/ordinary-user.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { waysAroundLayer } from '../support/ways-around-layer.ts';
import { createTestWorker } from '../support/worker.ts';
import { report } from './report.ts';

becomeOrdinaryUser();
const home = temporaryFolder();
const here = createTestWorker({ highestLevel: 'namespace', home, stateDir: join(home, 'state') });
const compared = await compareNamespaces(here, { changes: { mode: 'track' } });
writeFileSync(join(here.folder, 'a'), 'a');
const { stdout } = await here.run(
  `read -rd '' init </proc/1/cmdline; echo "\${init##*/}"; ${waysAroundLayer(here.folder)}`,
  { changes: { mode: 'hold' } },
);
report({ ...compared, folder: here.folder, init: stdout, a: readFileSync(join(here.folder, 'a'), 'utf8') });
await here.close();
