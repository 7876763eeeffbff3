// Ordinary uses of closed programs on a Debian system. Each script is run under a list of only its programs.

/** A list of programs, and a script that fails if one of its steps does. */
export interface OrdinaryUse {
  readonly names: string;
  readonly script: string;
}

const gitSetUp =
  'git init -q . && git config user.name a && git config user.email a@b && echo 1 > f && git add f && git commit -qm one';

/** At least one for every closed program that Debian's ordinary packages have. */
export const ordinaryUses: readonly OrdinaryUse[] = [
  {
    names: 'git',
    script: `${gitSetUp} && git status -s && git log -p --stat && git diff HEAD && git blame f && git show`,
  },
  {
    names: 'git',
    script: `${gitSetUp} && git checkout -qb x && echo 2 > g && git add g && git commit -qm two && git checkout -q - && git merge -q --no-ff -m m x && git rebase -q HEAD~1`,
  },
  {
    names: 'git',
    script: `${gitSetUp} && echo 2 > f && git stash -q && git stash pop -q && git worktree add -q ../w-$$ && git gc -q && git fsck && git archive -o a.tar.gz HEAD`,
  },
  {
    names: 'git',
    script: `${gitSetUp} && git clone -q "file://$PWD" c && cd c && git fetch -q && git pull -q && git push -q origin HEAD:new && git ls-remote`,
  },
  {
    names: 'git',
    script: `${gitSetUp} && git -c protocol.file.allow=always submodule add -q "$PWD" sub && git submodule status && git submodule foreach "git log --oneline"`,
  },
  {
    names: 'git',
    script: `${gitSetUp} && for b in x y; do git checkout -q -b $b HEAD && echo $b > $b && git add $b && git commit -qm $b && git checkout -q -; done && git merge -q -s octopus -m m x y`,
  },
  {
    names: 'git',
    script: `${gitSetUp} && GIT_EDITOR=true git commit -q --amend && git bisect start && git bisect reset && PAGER=cat git -p log && git format-patch -1 && git am --abort; git tag -a v -m v`,
  },
  {
    names: 'git',
    script: `${gitSetUp} && echo 3 >> f && printf "y\\n" | git add -p && git commit -qm three && git range-diff HEAD~1..HEAD HEAD~1..HEAD && git shortlog -s HEAD`,
  },
  { names: 'ls grep', script: 'echo a > f; ls -la | grep f && ls --color=auto' },
  { names: 'egrep fgrep', script: 'echo ab > f && egrep "a|c" f && fgrep ab f' },
  {
    names: 'find xargs',
    script: 'echo a > f && find . -name f | xargs && find . -type f -print0 | xargs -0 echo',
  },
  { names: 'find cat', script: 'echo a > f && find . -name f -exec cat {} +' },
  { names: 'sed awk', script: 'echo a | sed s/a/b/ | awk "{ print \\$1 }" && echo x | sed -n "/x/p"' },
  { names: 'jq', script: 'echo "{\\"a\\":1}" | jq .a' },
  { names: 'rg', script: 'echo a > f && rg a' },
  {
    names: 'tar',
    script:
      'echo a > f && tar czf f.tgz f && tar tzf f.tgz && tar cjf f.tbz f && tar cJf f.txz f && tar xf f.txz',
  },
  { names: 'gzip gunzip zcat', script: 'echo a > f && gzip f && zcat f.gz && gunzip f.gz' },
  { names: 'zgrep gzip', script: 'echo a > f && gzip f && zgrep a f.gz' },
  { names: 'bzip2 bzcat', script: 'echo a > f && bzip2 f && bzcat f.bz2' },
  { names: 'xz xzcat', script: 'echo a > f && xz f && xzcat f.xz' },
  { names: 'zip unzip', script: 'echo a > f && zip -q f.zip f && unzip -l f.zip' },
  {
    names: 'gcc',
    script: 'echo "int main(void) { return 0; }" > a.c && gcc -c a.c && gcc -o a a.c && gcc -S a.c',
  },
  { names: 'g++', script: 'echo "int main() { return 0; }" > a.cc && g++ -o a a.cc' },
  { names: 'man', script: 'man -w git || man -w ls || true' },
  { names: 'ssh', script: 'ssh -V && ssh -G localhost' },
  { names: 'ssh-keygen', script: 'ssh-keygen -q -t ed25519 -N "" -f key && ssh-keygen -lf key.pub' },
  { names: 'curl', script: 'echo a > f && curl -s "file://$PWD/f" && curl --version' },
  { names: 'wget', script: 'wget --version' },
  { names: 'rsync mkdir', script: 'mkdir a b && echo x > a/f && rsync -a a/ b/' },
  { names: 'openssl', script: 'openssl version && echo a | openssl dgst -sha256 && openssl rand -hex 4' },
  {
    names: 'sqlite3',
    script: 'sqlite3 d.db "create table t (a); insert into t values (1); select * from t"',
  },
  { names: 'less', script: 'echo a | less' },
  { names: 'file', script: 'file /bin/sh' },
  { names: 'which', script: 'which ls' },
  {
    names: 'sort uniq head tail wc cut tr nl tac rev',
    script:
      'printf "b\\na\\na\\n" | sort | uniq -c | head -2 | tail -1 | cut -c1-9 | tr -d " " | nl | tac | rev | wc -l && sort -u /etc/passwd',
  },
  { names: 'diff cmp comm', script: 'echo a > a; echo a > b; diff -u a b && cmp a b && comm a b' },
  { names: 'diff3 diff', script: 'echo a > a; diff3 a a a' },
  { names: 'patch diff', script: 'echo a > a; echo b > b; diff -u a b > p; patch -s a p' },
  {
    names: 'cp mv rm mkdir rmdir touch ln chmod mktemp install',
    script:
      'touch a && cp a b && mv b c && ln -s c l && chmod 600 c && mkdir -p d/e && rmdir d/e && install -m 644 a d/a && f=$(mktemp) && rm "$f" && rm -r d',
  },
  {
    names: 'env printenv nice nohup timeout stdbuf',
    script:
      'env A=1 printenv A && nice printenv HOME && timeout 5 printenv HOME && stdbuf -oL printenv HOME && nohup printenv HOME',
  },
  {
    names: 'date id whoami uname hostname nproc df du stat ps',
    script: 'date && id && whoami && uname -a && nproc && df . && du -s . && stat . && ps',
  },
  {
    names: 'base64 md5sum sha256sum cksum od hexdump xxd strings',
    script:
      'echo a | base64 | base64 -d | md5sum && echo a > f && sha256sum f && cksum f && od f && hexdump -C f && xxd f && strings f',
  },
  {
    names: 'split csplit tee paste join fold seq expr dirname basename realpath readlink',
    script:
      'seq 9 | tee f && split -l 3 f && csplit -s f 3 && paste f f && join f f && fold -w 1 f && expr 1 + 1 && dirname /a/b && basename /a/b && realpath . && ln -sf f l 2> /dev/null; readlink -f f',
  },
  { names: 'column envsubst', script: 'echo "a b" | column -t && echo x | envsubst' },
  { names: 'ip ss', script: 'ip addr && ss -a' },
  { names: 'bc dc', script: 'echo 1+1 | bc && echo 1 1 + p | dc' },
  { names: 'nm objdump readelf size', script: 'readelf -h /bin/sh && objdump -f /bin/sh && size /bin/sh' },
  {
    names: 'git',
    script: `${gitSetUp} && echo 2 > f && git commit -qam two && GIT_SEQUENCE_EDITOR=true git rebase -q -i HEAD~1 && git cherry-pick --allow-empty --keep-redundant-commits HEAD && git revert --no-edit HEAD~1 && git notes add -m n && git bundle create -q b HEAD && git archive --format=zip -o a.zip HEAD`,
  },
  {
    names: 'git',
    script: `${gitSetUp} && echo 2 > f && git commit -qam two && git format-patch -q -1 && git reset -q --hard HEAD~1 && git am -q 0001-two.patch && git reset -q --hard HEAD~1 && git apply 0001-two.patch && git stash -q && git sparse-checkout set --skip-checks f && git maintenance run && git help -a`,
  },
  {
    names: 'git',
    script: `${gitSetUp} && echo 2 > f && git commit -qam two && git request-pull HEAD~1 . && export FILTER_BRANCH_SQUELCH_WARNING=1 && git filter-branch -f --msg-filter "sed s/^/x/" HEAD~1..HEAD && for n in 3 4 5; do echo $n > f && git commit -qam $n; done; git bisect start HEAD HEAD~3 && git bisect run git status`,
  },
  {
    names: 'git',
    script: `${gitSetUp} && git checkout -q -b x && echo x > f && git commit -qam x && git checkout -q - && echo y > f && git commit -qam y && ! git merge -q -s resolve x && git -c mergetool.t.cmd=true -c mergetool.t.trustExitCode=true mergetool -y -t t && git commit -qm merged && git subtree split -q -P . || git subtree add -q -P sub . x`,
  },
  {
    names: 'git',
    script:
      '! git ls-remote http://127.0.0.1:1/x && ! git ls-remote https://127.0.0.1:1/x && ! git -c core.sshCommand="ssh -F none" ls-remote ssh://127.0.0.1:1/x',
  },
  {
    names: '[ test true false printf echo pwd kill sleep time',
    script:
      '/usr/bin/[ 1 = 1 ] && /usr/bin/test 1 && /usr/bin/true && /usr/bin/printf a && /usr/bin/echo a && /usr/bin/pwd && sleep 0 && /usr/bin/kill -0 $$ && /usr/bin/time true && ! /usr/bin/false',
  },
  {
    names: 'gcc as ar ld ld.bfd ld.gold gold ranlib objcopy strip addr2line c++filt nm',
    script:
      'echo "int f(void) { return 1; }" > a.c && gcc -S a.c && as -o a.o a.s && ar rcs a.a a.o && ranlib a.a && ld -r -o b.o a.o && ld.bfd -r -o c.o a.o && ld.gold -r -o e.o a.o && gold --version && objcopy a.o d.o && strip d.o && addr2line -e a.o 0 && c++filt _Z1fv && nm a.a',
  },
  { names: 'c89', script: 'echo "int main(void) { return 0; }" > a.c && c89 a.c' },
  { names: 'c99', script: 'echo "int main(void) { return 0; }" > a.c && c99 a.c' },
  { names: 'cc cpp', script: 'echo "int main(void) { return 0; }" > a.c && cc a.c && cpp a.c' },
  { names: 'c++', script: 'echo "int main() { return 0; }" > a.cc && c++ a.cc' },
  {
    names: 'x86_64-linux-gnu-gcc',
    script: 'echo "int main(void) { return 0; }" > a.c && x86_64-linux-gnu-gcc a.c',
  },
  {
    names: 'arch b2sum base32 basenc sha1sum sha224sum sha384sum sha512sum sum',
    script:
      'arch && echo a > f && b2sum f && base32 f && basenc --base16 f && sha1sum f && sha224sum f && sha384sum f && sha512sum f && sum f',
  },
  {
    names: 'arp ifconfig netstat route ip bridge tc ss',
    script:
      'PATH=$PATH:/usr/sbin; arp -n && ifconfig -a && netstat -an && route -n && ip -br addr && bridge link && tc qdisc && ss -tn',
  },
  {
    names: 'blkid lsblk lscpu lsmem lsns lsof free',
    script: 'blkid; lsblk; lscpu && { lsmem; lsns; lsof -p $$; free -m; }',
  },
  {
    names: 'bzip2 bunzip2 bzcat',
    script: 'echo a > f && bzip2 -k f && bzcat f.bz2 && bunzip2 -kf f.bz2',
  },
  {
    names: 'bzcmp bzdiff bzegrep bzfgrep bzgrep bzip2',
    script:
      'echo a > f && bzip2 -k f && bzcmp f.bz2 f.bz2 && bzdiff f.bz2 f.bz2 && bzegrep a f.bz2 && bzfgrep a f.bz2 && bzgrep a f.bz2',
  },
  { names: 'bzless bzmore bzip2', script: 'echo a > f && bzip2 -k f && bzless f.bz2 && bzmore f.bz2' },
  {
    names: 'chattr chcon chgrp chown lsattr chmod',
    script:
      'echo a > f && chown $UID f && chgrp $GROUPS f && chmod 600 f && { lsattr f; chattr -i f; chcon -t x f; :; }',
  },
  {
    names: 'chrt ionice taskset setsid flock watch renice true date',
    script:
      'chrt -p $$ && ionice -c 3 true && taskset -p $$ && setsid -w true && flock f true && renice -n 1 $$ && TERM=xterm watch -g -n 0.1 "date +%N"',
  },
  { names: 'clear tput stty tty', script: 'export TERM=xterm; clear && tput cols && { stty -a; tty; :; }' },
  {
    names: 'col colrm expand unexpand fmt pr ptx tsort numfmt fold',
    script:
      'echo a b > f && col < f && colrm 2 3 < f && expand f && unexpand f && fmt f && pr f && ptx f && tsort f && numfmt --to=si 1000',
  },
  {
    names: 'dd shred truncate unlink link mkfifo mknod sync',
    script:
      'dd if=/dev/zero of=f bs=1 count=1 && shred f && truncate -s 9 f && link f g && unlink g && mkfifo p && { mknod q p && sync f; }',
  },
  { names: 'dir vdir dircolors hd', script: 'dir && vdir && dircolors -b && echo a > f && hd f' },
  { names: 'ed red', script: 'printf "a\\nhi\\n.\\nw f\\nq\\n" | ed -s && echo q | red -s f' },
  {
    names: 'ex vi view vim vimdiff rvim',
    script:
      'echo a > f; echo b > g; for one in ex vi view vim rvim; do "$one" -es -c "wq! h" f || exit 1; done; vimdiff -es -c qa f g',
  },
  {
    names: 'getconf getent getopt getcap gettext locale',
    script: 'getconf PATH && getent passwd root && getopt ab -- -a && getcap /bin/sh; gettext hi && locale',
  },
  {
    names: 'gpg',
    script:
      'export GNUPGHOME=$PWD; gpg -q --batch --passphrase "" --quick-gen-key a@b ed25519 sign never && echo a > f && gpg -q --batch -b f && gpg -q --verify f.sig f',
  },
  { names: 'gpgsm gpgv', script: 'export GNUPGHOME=$PWD; gpgsm -q --list-keys && gpgv --version' },
  {
    names: 'groups hostid logname users who w last lastlog pinky uptime',
    script:
      'groups && hostid && users && who && w && uptime && { logname; last -n 1; lastlog -u root; pinky; :; }',
  },
  {
    names: 'setarch linux32 linux64 i386 x86_64 true',
    script: 'setarch x86_64 true && linux64 true && x86_64 true && { linux32 true; i386 true; }',
  },
  {
    names: 'iconv msgfmt shuf',
    script: 'echo a | iconv -f utf8 -t latin1 && echo "# none" | msgfmt -o m.mo - && shuf -e a b',
  },
  {
    names: 'killall pgrep pidof pkill pstree pwdx slabtop tload top vmstat',
    script:
      'pgrep bash && pidof bash && pstree && pwdx $$ && top -bn 1 && vmstat && { pkill -0 no-such-program; killall -q -0 no-such-program; slabtop -o; tload -V; :; }',
  },
  { names: 'more pager lesspipe', script: 'echo a > f && more f && pager f && lesspipe f' },
  { names: 'zless zmore gzip', script: 'echo a > f && gzip f && zless f.gz && zmore f.gz' },
  { names: 'xzless xzmore xz', script: 'echo a > f && xz f && xzless f.xz && xzmore f.xz' },
  { names: 'lz4 lz4cat', script: 'echo a > f && lz4 -q f f.lz4 && lz4cat f.lz4' },
  {
    names: 'lzma unlzma lzcat lzdiff lzgrep',
    script:
      'echo a > f && lzma f && lzcat f.lzma && lzgrep a f.lzma && lzdiff f.lzma f.lzma && unlzma f.lzma',
  },
  { names: 'man', script: 'man -w ls && man ls | { read -r line; echo "$line"; }' },
  { names: 'mandb apropos whatis', script: 'mandb --version && { whatis ls; apropos ls; :; }' },
  { names: 'mawk nawk', script: 'echo a | mawk "{ print $1 }" && echo a | nawk "{ print $1 }"' },
  { names: 'namei pathchk whereis getent', script: 'namei . && pathchk a && whereis ls' },
  {
    names: 'psql pg_dump pg_dumpall',
    script:
      'psql --version && pg_dump --version && pg_dumpall --version; ! psql -h 127.0.0.1 -p 1 -c "select 1"',
  },
  { names: 'rgrep', script: 'echo a > f && rgrep a .' },
  { names: 'scp', script: 'echo a > f && scp -q f g && echo "$(<g)"' },
  {
    names: 'sftp slogin ssh-add ssh-keyscan',
    script: '! sftp -q -P 1 127.0.0.1 && slogin -V && { ssh-add -l; ssh-keyscan -T 1 127.0.0.1; :; }',
  },
  { names: 'sdiff', script: 'echo a > f && sdiff f f' },
  {
    names: 'uncompress unxz xz gzip',
    script: 'echo a > f && xz f && unxz f.xz && gzip f && uncompress f.gz',
  },
  {
    names: 'xzcmp xzdiff xzegrep xzfgrep xzgrep xz',
    script:
      'echo a > f && xz f && xzcmp f.xz f.xz && xzdiff f.xz f.xz && xzegrep a f.xz && xzfgrep a f.xz && xzgrep a f.xz',
  },
  { names: 'yes head', script: 'yes | head -n 1' },
  {
    names: 'zcmp zdiff zegrep zfgrep gzip',
    script: 'echo a > f && gzip f && zcmp f.gz f.gz && zdiff f.gz f.gz && zegrep a f.gz && zfgrep a f.gz',
  },
  { names: 'zip zipinfo', script: 'echo a > f && zip -q f.zip f && zip -T f.zip && zipinfo f.zip' },
  { names: 'zstd zstdcat', script: 'echo a > f && zstd -q f && zstdcat f.zst' },
];
