// Commands of an ordinary user, in namespaces that the fork server has created.
import { compareNamespaces } from '../support/compare-namespaces.ts';
import { execAllowOf } from '../support/exec-list.ts';
import { becomeOrdinaryUser } from '../support/ordinary-user.ts';
import { createTestWorker } from '../support/worker.ts';
import { report } from './report.ts';

becomeOrdinaryUser();
const listed = process.argv.slice(2);
const here = createTestWorker({
  highestLevel: 'namespace',
  ...(listed.length > 0 && { exec: 'enforce', execAllow: execAllowOf(listed) }),
});
const compared = await compareNamespaces(here);
const reach =
  'readlink /proc/1/fd/3 || cat /proc/1/environ 2>/dev/null || echo none; echo x 2>/dev/null >/proc/1/fd/3 || echo none';
report({ ...compared, reached: (await here.run(reach)).stdout });
await here.close();
