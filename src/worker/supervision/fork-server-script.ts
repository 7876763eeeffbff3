// The fork server's program, and the messages between it and nacre.
import { existsSync } from 'node:fs';
import { mountLayersScript } from '../changes/mount-layers.ts';
import { namespaceCalls, namespaceScript } from './namespace-script.ts';

// perl is not looked up on the PATH, because commands may be able to write to its folders.
const perlPath = '/usr/bin/perl';

// prctl, rt_sigprocmask, signalfd4, setsid, openat, fcntl, dup3, ioctl; then those of `namespaceScript`.
const calls: Readonly<Record<string, readonly number[]>> = {
  x64: [157, 14, 289, 112, 257, 72, 292, 16, ...namespaceCalls.x64],
  arm64: [167, 135, 74, 157, 56, 25, 24, 29, ...namespaceCalls.arm64],
};

/** The command line of the fork server; undefined on a machine without perl, or where its system calls are not known. */
export function findForkServer(perl = perlPath): readonly [string, ...string[]] | undefined {
  const numbers = calls[process.arch];
  if (process.platform !== 'linux' || numbers === undefined || !existsSync(perl)) return undefined;
  return [perl, '-f', '-e', `${script}${namespaceScript}${mountLayersScript}`, numbers.join(',')];
}

/** The descriptor of the fork server that has the reading end of the `Lifeline`. */
export const lifelineFd = 3;

/**
 * A file that the fork server opens for a program: a FIFO for reading or writing, a terminal, another of its descriptors, or
 * a pipe that contains `path` as hexadecimal bytes.
 */
export interface ForkFile {
  readonly fd: number;
  readonly open: 'read' | 'write' | 'terminal' | 'copy' | 'bytes';
  readonly path: string;
}

/** A program to start, in a new session. */
export interface ForkRequest {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Its descriptors; one that is not listed is closed. */
  readonly files: readonly ForkFile[];
  /** The namespaces in which a keeper starts it; without them it is executed at once. */
  readonly namespace?: ForkNamespace | undefined;
}

/** A pid and a mount namespace that the fork server creates itself, because executing `bwrap` takes longer. */
export interface ForkNamespace {
  /** `UID GID` of an ordinary user, who also needs a user namespace; empty for root. */
  readonly user: string;
  /** The layers over the workspace, as words for `mountLayersScript`; empty without layers. */
  readonly layers: readonly string[];
  /** The numbers of the capabilities that the shell loses. */
  readonly droppedCapabilities: readonly number[];
  /** The mounts: `d` covers a folder, `f` a file, and `r` makes a path read-only; the path follows the letter. */
  readonly mounts: readonly string[];
  /** The path of exec-guard.pl and the rules for the shell (`Guard.forkWords`); undefined if the shell is not restricted. */
  readonly guard?: readonly string[] | undefined;
}

/**
 * Encodes a request: the length of what follows and that of the variables, in 4 bytes each, then the words and the variables, all
 * separated by NUL. Throws if one of them contains NUL.
 */
export function encodeForkRequest(id: number, { argv, env, cwd, files, namespace }: ForkRequest): Buffer {
  const variables = encodeVariables(env);
  const fileWords = files.flatMap(({ fd, open, path }) => [String(fd), open, path]);
  const namespaceWords = namespace ? toWords(namespace) : [];
  const counts = [fileWords.length, namespaceWords.length, argv.length].map(String);
  const words = [String(id), cwd, ...counts, ...fileWords, ...namespaceWords, ...argv];
  const text = joinWords(words);
  const message = Buffer.allocUnsafe(8 + Buffer.byteLength(text) + variables.length);
  message.writeUInt32BE(message.length - 4);
  message.writeUInt32BE(variables.length, 4);
  message.write(text, 8);
  variables.copy(message, message.length - variables.length);
  return message;
}

function toWords(namespace: ForkNamespace): readonly string[] {
  const { user, guard = [], layers, droppedCapabilities, mounts } = namespace;
  const lists = [guard, layers].flatMap((words) => [String(words.length), ...words]);
  return [user, droppedCapabilities.join(' '), ...lists, ...mounts];
}

const encodedVariables = new WeakMap<ForkRequest['env'], Buffer>();

// Most requests have the same `env` object.
function encodeVariables(env: ForkRequest['env']): Buffer {
  const known = encodedVariables.get(env);
  if (known !== undefined) return known;
  const variables = Buffer.from(joinWords(Object.entries(env).flat()));
  encodedVariables.set(env, variables);
  return variables;
}

function joinWords(words: readonly string[]): string {
  if (words.some((word) => word.includes('\0'))) throw new Error('a word contains a NUL byte');
  return words.join('\0');
}

/** Makes a fork server exit by itself as soon as it has no child process. */
export const retireMessage: Buffer = Buffer.alloc(4);

/** A reply of the fork server: a program was started or could not be, or has exited with a status as from wait(2). */
export type ForkReply =
  | { readonly kind: 'started'; readonly id: number; readonly pid: number }
  | { readonly kind: 'failed'; readonly id: number; readonly errno: number; readonly step: string }
  | { readonly kind: 'exited'; readonly id: number; readonly status: number };

/** Parses one line of the fork server's replies. */
export function parseForkReply(line: string): ForkReply | undefined {
  const [kind, id = '', number = '', step = ''] = line.split(' ');
  const numbers = { id: Number(id), number: Number(number) };
  if (kind === 'started') return { kind, id: numbers.id, pid: numbers.number };
  if (kind === 'failed') return { kind, id: numbers.id, errno: numbers.number, step };
  return kind === 'exited' ? { kind, id: numbers.id, status: numbers.number } : undefined;
}

/**
 * 1. It becomes a subreaper (prctl 36): an orphan below it becomes its child, and it reaps every child. Where PID 1 reaps
 *    nothing, as in many containers, orphans would stay as zombies.
 * 2. A request is executed in a child; `started` is reported once execve() has closed the child's end of a pipe, and
 *    `failed` if the child has written to it. A failed fork() (EAGAIN) is a failed request, nothing else.
 * 3. SIGCHLD is blocked and read from a signalfd, because a perl handler may run too late to interrupt select().
 * 4. After an empty request it exits when it has no child process, adopted ones included.
 * 5. At the end of its stdin it kills its children until there are none: nothing survives a server that was killed. In case it was
 *    stopped, it is sent SIGCONT when the server dies (PR_SET_PDEATHSIG, prctl 1).
 * It loads no module: distributions split those of perl into packages of their own.
 */
const script = String.raw`
my ($prctl, $mask, $signalfd, $setsid, $openat, $fcntl, $dup, $ioctl, @more) = map { $_ + 0 } split /,/, $ARGV[0];
my ($clone, $mount, $close_range, $setpgid, $getrusage, $exit_group, $capget, $capset) = @more;
syscall $prctl, 36, 1, 0, 0, 0;
syscall $prctl, 1, 18, 0, 0, 0;
my $child = pack 'Q', 1 << 16;
syscall $mask, 0, $child, 0, 8;
my $signals = syscall $signalfd, -1, $child, 8, 0x80800;
open my $signal_handle, '<&=', $signals or die "signalfd: $!";
syscall $fcntl, 3, 2, 1;
my %flags = (read => 04000, write => 04001, terminal => 0402);
my ($input, $retired, $variables, %request, %starting, %guards) = ('');
while (1) {
    my $wanted = '';
    vec($wanted, $_, 1) = 1 for 0, $signals, keys %starting;
    select $wanted, undef, undef, undef;
    sysread $signal_handle, my $ignored, 4096 if vec $wanted, $signals, 1;
    my $empty = reap();
    for (keys %starting) { settle($_) if vec $wanted, $_, 1 }
    last if $retired && $empty;
    next unless vec $wanted, 0, 1;
    last unless sysread STDIN, $input, 65536, length $input;
    while (length $input >= 4) {
        my $length = unpack 'N', $input;
        last if length $input < 4 + $length;
        begin(substr $input, 4, $length) if $length;
        $retired = 1 unless $length;
        substr $input, 0, 4 + $length, '';
    }
    last if $retired && reap();
}
kill 9, keys %request;
while (1) {
    opendir my $processes, '/proc' or last;
    for my $pid (grep { /^\d+$/ } readdir $processes) {
        open my $stat, '<', "/proc/$pid/stat" or next;
        kill 9, $pid if <$stat> =~ /.*\) \S (\d+)/s && $1 == $$;
    }
    my $reaped;
    while (($reaped = waitpid -1, 1) > 0) { }
    last if $reaped < 0;
    select undef, undef, undef, 0.01;
}

sub reply { syswrite STDOUT, join(' ', @_) . "\n" }

sub reap {
    my $pid;
    while (($pid = waitpid -1, 1) > 0) {
        my ($status, $known) = ($?, delete $request{$pid});
        next unless $known;
        settle($known->{pipe}) if $starting{ $known->{pipe} } == $known;
        reply('exited', $known->{id}, $status) unless $known->{failed};
    }
    return $pid < 0;
}

sub settle {
    my $known = delete $starting{ $_[0] };
    sysread $known->{handle}, my $failure, 64;
    close $known->{handle};
    $known->{failed} = $failure ne '';
    # If the shell could not be restricted, the init process of its namespace is still running.
    kill 9, $known->{pid} if $known->{failed} && $request{ $known->{pid} };
    reply($failure eq '' ? ('started', $known->{id}, $known->{pid}) : ('failed', $known->{id}, $failure));
}

sub begin {
    my $variables_at = length($_[0]) - unpack 'N', $_[0];
    use_variables(substr $_[0], $variables_at);
    my ($id, $cwd, $file_words, $namespace_words, $argv_words, @words) = split /\0/, substr($_[0], 4, $variables_at - 4), -1;
    my @files = splice @words, 0, $file_words;
    my ($user, $dropped, @mounts) = splice @words, 0, $namespace_words;
    my @argv = splice @words, 0, $argv_words;
    my @guard = splice @mounts, 0, shift @mounts;
    my @layers = splice @mounts, 0, shift @mounts;
    my $namespace = { user => $user, dropped => $dropped, layers => \@layers, mounts => \@mounts };
    my $guard = @guard && eval { find_guard(@guard) };
    return reply('failed', $id, $! + 0, 'guard') if @guard && !$guard;
    pipe my $from, my $to or return reply('failed', $id, $! + 0, 'pipe');
    my $pid = $namespace_words ? fork_namespace($user) : fork;
    return reply('failed', $id, $! + 0, 'fork') unless defined $pid;
    if ($pid) {
        my $known = { id => $id, pid => $pid, pipe => fileno $from, handle => $from };
        return $request{$pid} = $starting{ fileno $from } = $known;
    }
    my $report = syscall $fcntl, fileno $to, 1030, 20;
    syscall $setsid;
    open_files($report, @files);
    chdir $cwd or failed($report, 'chdir');
    enter($report, \@argv, $guard, $namespace) if $namespace_words;
    execute(@argv);
    failed($report, 'exec');
}

# Sets the environment of the next forks. Most requests have that of the last one, for which there is nothing to do.
sub use_variables {
    return if defined $variables && $variables eq $_[0];
    $variables = $_[0];
    %ENV = split /\0/, $variables, -1;
}

# Every file gets a high descriptor first, so that none replaces another one that is still to be copied.
sub open_files {
    my ($report, @files) = @_;
    my (@open, $terminal);
    while (my ($fd, $kind, $path) = splice @files, 0, 3) {
        my $opened = $kind eq 'copy' ? $path + 0
            : $kind eq 'bytes' ? pipe_with($path)
            : syscall $openat, -100, $path, $flags{$kind} | 02000000, 0;
        failed($report, 'open') if $opened < 0;
        syscall $fcntl, $opened, 4, 0 if $kind eq 'read' || $kind eq 'write';
        $terminal ||= $kind eq 'terminal';
        my $high = syscall $fcntl, $opened, 1030, 20;
        failed($report, 'open') if $high < 0;
        push @open, [$high, $fd + 0];
    }
    for (@open) { failed($report, 'open') if syscall($dup, @$_, 0) < 0 }
    # TIOCSCTTY.
    syscall $ioctl, 0, 0x540e, 0 if $terminal;
}

sub execute {
    my $none = pack 'Q', 0;
    syscall $mask, 2, $none, 0, 8;
    exec { $_[0] } @_;
}

sub pipe_with {
    pipe $kept, my $to or return -1;
    syswrite $to, pack 'H*', $_[0];
    return fileno $kept;
}

sub failed {
    my ($report, $step) = @_;
    my $errno = $! + 0;
    open my $handle, '>&=', $report;
    syswrite $handle, "$errno $step";
    syscall $exit_group, 127;
}
`;
