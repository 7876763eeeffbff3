import { expect, test } from 'vitest';
import { decideCommand } from '../decide-command.ts';

test.each([
  'docker run -v /:/host alpine rm -rf /host',
  "docker run --rm -v /:/mnt ubuntu sh -c 'rm -rf /mnt/*'",
  'docker run --mount type=bind,source=/,target=/h --entrypoint rm alpine -rf /h',
  'watch rm -rf /',
  'ssh host rm -rf /',
  "ssh host 'rm -rf /*'",
  'parallel rm -rf ::: /etc /usr',
  "tmux new -d 'rm -rf /'",
  "screen -S x -X stuff 'rm -rf /\\n'",
  "flock /tmp/l -c 'rm -rf /'",
  "su -c 'rm -rf /'",
  "script -c 'rm -rf /' /dev/null",
  "echo 'rm -rf /' | at now",
  "crontab - <<< '* * * * * rm -rf /'",
  'npx rimraf /',
  "make X='$(shell rm -rf /)'",
  "make --eval='$(shell rm -rf /)'",
  "make -f - <<< 'all: ; rm -rf /'",
  "vim -c '!rm -rf /'",
  "sqlite3 db '.shell rm -rf /'",
  "psql -c '\\! rm -rf /'",
  "ansible all -m shell -a 'rm -rf /'",
  "gdb -ex 'shell rm -rf /'",
  'fd . / -x rm -rf {}',
  'chroot /mnt rm -rf /',
  'nsenter -t 1 -m rm -rf /',
  "socat - SYSTEM:'rm -rf /'",
  "hyperfine 'rm -rf /'",
  'curl -o /dev/sda url',
  "entr -s 'rm -rf /'",
  "echo 'syscmd(rm -rf /)' | m4",
])('P8: `%s` is stopped under every list', (command) => {
  expect(decideCommand(command, '*')).toMatchObject({ verdict: 'deny' });
});

test.each([
  'docker run alpine rm -rf /',
  'docker run -v "$PWD":/app alpine rm -rf /app/dist',
  'docker run -v /srv/app:/app alpine rm -rf /app /etc',
  'docker run --privileged -v /:/host alpine ls /host',
  'docker run -v /:/host:ro alpine rm -rf /host',
  'ssh host rm -rf /tmp/x',
  "tmux new -d 'rm -rf build'",
  "make X='$(shell rm -rf build)'",
  'npx rimraf dist',
  'parallel rm -rf ::: build dist',
  'fd . build -x rm -rf {}',
  'sudo -i',
  'vim -S x.vim',
  'npm config set script-shell bash',
])('P8: `%s` is no danger', (command) => {
  expect(decideCommand(command, '*')).toMatchObject({ verdict: 'allow' });
});
