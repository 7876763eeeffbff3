// The example of the guide to machines over ssh, with its names. containers.test.ts has that of the guide to containers.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runInProcess } from '../support/nacre.ts';
import { blocks } from '../support/pages.ts';
import { createGuidePlace } from './guide-place.ts';
import { startHosts, whyNoHosts } from './hosts/start-ssh.ts';

const noHosts = whyNoHosts();

test.skipIf(noHosts !== undefined)('the example of the guide to ssh', async () => {
  const hosts = startHosts(1);
  try {
    const text = readFileSync(hosts.config, 'utf8').replace('Host h1\n', 'Host h1 gpu1 build\n');
    const place = createGuidePlace('machines-ssh');
    const { home } = place;
    mkdirSync(join(home, '.ssh'));
    mkdirSync(join(home, 'bin'));
    writeFileSync(join(home, '.ssh/agents'), text);
    // ssh reads the configuration in the home of the account, which a test must not change.
    const ssh = `#!/bin/sh\nexec /usr/bin/ssh -F '${home}/.ssh/agents' "$@"\n`;
    writeFileSync(join(home, 'bin/ssh'), ssh, { mode: 0o755 });
    const env = { ...place.env, PATH: `${home}/bin:/usr/local/bin:/usr/bin:/bin` };
    const stub = (name: string) => `printf '#!/bin/sh\\necho I am ${name}\\n' > /usr/local/bin/${name}`;
    const prepare = `${stub('nvidia-smi')}; ${stub('make')}; chmod 755 /usr/local/bin/*; su dev -c 'mkdir -p ~/jobs ~/src/app'`;
    execFileSync('/usr/bin/ssh', ['-F', hosts.config, 'root@h1', prepare]);
    const lines = blocks('docs/guide/machines-ssh.md', 'sh').join('').split('\n');
    const commands = lines.filter((line) => line.startsWith('nacre '));
    expect(commands).toHaveLength(3);
    for (const line of commands) {
      const argv = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '');
      const ended = await runInProcess(argv.slice(1), { ...place, env });
      expect(ended, line).toMatchObject({ code: 0, stdout: expect.stringMatching(/reachable|I am/) });
    }
  } finally {
    hosts.stop();
  }
});
