import { expect, test } from 'vitest';
import { decideCommand } from '../decide-command.ts';

test.each([
  `python3 -c 'import os; os.system("rm -rf /")'`,
  `python3 -c 'import os; os.system("echo \\"a\\"; rm -rf /")'`,
  `python3 -c 'import subprocess as s; s.run(["rm", "-rf", "/"])'`,
  `python3 -c 'import subprocess; subprocess.check_call("mkfs.ext4 /dev/sda", shell=True)'`,
  `python3 -c 'import shutil; shutil.rmtree("/home/ann")'`,
  `python3 -c 'open("/dev/sda", "wb").write(b"0")'`,
  `perl -e 'open(F, ">/dev/sda")'`,
  `perl -e 'open(my $f, ">", "/dev/sda")'`,
  `python3 - <<'E'\nimport os\nwhile True:\n    os.fork()\nE`,
  `perl -e 'qx{rm -rf /}'`,
  `perl -e 'qx(rm -rf /)'`,
  `perl -e 'qx[rm -rf /]'`,
  `perl -e 'qx|rm -rf /|'`,
  `perl -e 'system "rm -rf /"'`,
  `perl -e 'fork while fork'`,
  `ruby -e '%x(rm -rf /)'`,
  `ruby -e '\`rm -rf /\`'`,
  `ruby -e 'require "fileutils"; FileUtils.rm_rf("/")'`,
  `node -e 'require("fs").rmSync("/", { recursive: true })'`,
  `node -e 'require("child_process").spawnSync("rm", ["-rf", "/"])'`,
  `php -r 'shell_exec("rm -rf /");'`,
  `lua -e 'os.execute("rm -rf /")'`,
])('P8: danger inside code is seen: %s', (command) => {
  expect(decideCommand(command, '*').reason).toMatch(/ is blocked as dangerous/);
});

test.each([
  `python3 -c 'import os; os.system("ls")'`,
  `python3 -c 'open("/dev/sda", "rb").read(512)'`,
  `perl -e 'open(F, "</dev/sda")'`,
  `python3 -c 'import shutil; shutil.rmtree("build")'`,
  `python3 -c 'print("rm -rf /")'`,
  `python3 -c 'os.system("unclosed \\" quote")'`,
  `node -e 'console.log("system(rm)")'`,
  `perl -e 'if (fork) { wait }'`,
])('P5: under * the rest passes: %s', (command) => {
  expect(decideCommand(command, '*')).toMatchObject({ verdict: 'allow' });
});

test.each([
  ['python3 -c "print($((1 + 1)))"', ['python3'], 'allow'],
  ['python3 -c "print($x)"', ['python3'], 'deny'],
  ['node --import data:%ZZ x.js', ['node'], 'deny'],
  ['node --import ./setup.mjs x.js', ['node'], 'allow'],
  ['node -- x.js', ['node'], 'allow'],
  ['python3 $args', ['python3'], 'deny'],
  ['perl -i -pe 1 f', ['perl'], 'allow'],
  ['python3 < script.py', ['python3'], 'deny'],
  ['python3 < /dev/null', ['python3'], 'allow'],
] as const)('P5: %s under %s', (command, allow, verdict) => {
  expect(decideCommand(command, allow)).toMatchObject({ verdict });
});
