// Programs that run inside a container need not be listed. Everything that reaches out of one is judged: mounted host folders
// (`-v`), host privileges (`--privileged`) and files copied out (`docker cp`).

import { quoteWord } from '../../support/quote.ts';
import { withoutTrailing } from '../../support/without-trailing.ts';
import { parseOptions } from '../options/parse-options.ts';
import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, knownArg, prefixOf, wordText } from '../words/arg.ts';
import { refuseOptions, startsAfter, startsOperands } from './effects.ts';
import {
  plugins,
  refused,
  type Sub,
  startOptions,
  subcommands,
  writeOptions,
  writesBelow,
} from './option-effects.ts';
import type { Effect, ProgramEntry } from './program.ts';

const globalOptions = {
  short: 'c:H:Dl:v',
  long: 'config= context= debug host= log-level= tls tlscacert= tlscert= tlskey= tlsverify version url= connection= remote root= runroot= storage-driver= namespace= address= cgroup-manager= conmon= runtime= hooks-dir= help',
  stop: true,
};

/** Container tools: `docker`, `podman`, `nerdctl` and their `compose` commands. */
export const containerPrograms: readonly ProgramEntry[] = [
  {
    names: ['docker', 'podman', 'nerdctl', 'docker-compose', 'podman-compose', 'buildah'],
    options: globalOptions,
    effects: dockerEffects,
    runs: [
      'docker run -v /:/host alpine ls /host',
      'docker run --rm -v /etc:/e alpine ls',
      'docker run --privileged alpine ls',
      'docker run --pid=host alpine ls',
      'docker run --pid host alpine ls',
      'docker run -v /var/run/docker.sock:/var/run/docker.sock alpine ls',
      'docker run --mount type=bind,source=/,target=/h alpine ls',
      'docker run --cap-add=SYS_ADMIN alpine ls',
      'docker run --device /dev/sda alpine ls',
      'docker cp web:/x ~/.bashrc',
      'docker save -o /etc/x img',
      'docker --config ./x ps',
      ['podman unshare touch x', 'touch'],
      'docker container run --privileged alpine',
      'docker compose -f - up',
      'docker run -v ~/.ssh:/s alpine ls',
      'docker exec --privileged web ls',
      ['docker exec web touch x', 'touch'],
      ['docker compose exec -T web touch x', 'touch'],
      'docker plugin install x',
      'docker run -v /:/host alpine chroot /host ls',
      ['docker -H ssh://host ps', 'ssh'],
      ['docker some-new-plugin', 'docker-some-new-plugin'],
    ],
    harmless: [
      'docker ps -a',
      'docker run --rm -v "$PWD":/app -w /app node:20 npm test',
      'docker run -it --rm alpine sh -c "touch /x"',
      'docker build -t x -f Dockerfile .',
      'docker compose up -d',
      ['docker compose -f a.yml exec web ls', 'ls'],
      ['docker exec -it web ls -l', 'ls'],
      'docker logs -f web',
      'docker cp web:/app/x ./out',
      'docker run -d -p 80:80 --name web nginx',
      'docker inspect web',
      'docker run -v /srv/data:/data alpine ls',
      'docker images',
      'docker run --rm -v ./src:/src:ro alpine ls',
      'docker-compose logs',
      'docker run -v vol:/data alpine ls',
      'docker run alpine rm -rf /',
    ],
  },
  {
    names: ['kubectl', 'oc', 'k3s', 'microk8s', 'minikube'],
    options: {
      short: 'n:s:v:',
      long: 'kubeconfig= context= namespace= cluster= server= token= user= as= request-timeout= cache-dir= help version',
      stop: true,
    },
    effects: (call) => [
      ...refuseOptions({ kubeconfig: 'names a file whose settings can run programs' })(call),
      ...kubectlFiles(call),
      ...(call.name === 'kubectl' ? kubectlPlugins(call) : []),
      ...subcommands({
        config: {
          effects: (inner) =>
            inner.args
              .filter((arg) => /^--(?:exec-|auth-provider)|^users?\./.test(prefixOf(arg)))
              .map((at) => refused(inner, 'config may name a program', at)),
        },
        edit: { effects: (inner) => [refused(inner, 'edit starts an editor')] },
        kustomize: { options: { short: 'o:', long: 'output= helm-command=' }, effects: kustomized },
        exec: {
          options: {
            short: 'itqc:n:f:',
            long: 'stdin tty quiet container= namespace= filename= pod-running-timeout=',
          },
          effects: startsInside,
        },
        cp: {
          options: { short: 'c:n:', long: 'container= no-preserve retries= namespace=' },
          effects: copiedOut,
        },
        'krew plugin': {
          effects: (inner) =>
            /^(?:install|upgrade)$/.test(inner.options.operands[0]?.text ?? '')
              ? [refused(inner, 'would install code')]
              : [],
        },
        ssh: {
          options: { stop: true },
          effects: (inner) => inner.options.operands.map((text): Effect => ({ does: 'shell', text })),
        },
        debug: {
          options: { short: 'itc:n:', long: 'image= target= profile= share-processes copy-to=' },
          effects: (inner) =>
            inner.options.operands.some((word) => word.text?.startsWith('node/'))
              ? [refused(inner, 'debug reaches the whole node')]
              : [],
        },
      })(call),
    ],
    runs: [
      'kubectl edit deploy x',
      ['kubectl exec pod -- touch x', 'touch'],
      'kubectl cp pod:/x ~/.bashrc',
      'kubectl debug node/n -it --image=x',
      'kubectl krew install x',
      'kubectl get pods --cache-dir .git/hooks',
      'kubectl kustomize -o .git/config x',
      'kubectl kustomize --enable-exec x',
      'kubectl --kubeconfig ./kube.yaml get nodes',
      'kubectl config set-credentials x --exec-command=touch',
      ['kubectl some-new-plugin', 'kubectl-some-new-plugin'],
      ['minikube ssh ls', 'ls'],
    ],
    harmless: [
      'kubectl get pods -A',
      'kubectl apply -f x.yml',
      ['kubectl exec -it pod -c main -- ls -l', 'ls'],
      'kubectl logs -f pod',
      'kubectl kustomize overlays/dev -o out.yaml',
      'kubectl cp pod:/x ./out',
      'kubectl apply -f - <<E\na: 1\nE',
      'kubectl -n ns describe pod x',
      'kubectl run x --image=nginx',
      'minikube start',
    ],
  },
  {
    names: ['helm', 'helmfile', 'kustomize'],
    options: {
      short: 'n:f:',
      long: 'post-renderer= post-renderer-args= kubeconfig= values= set= namespace= enable-exec enable-alpha-plugins helm-binary= diff-args= plugin=',
    },
    effects: (call) => [
      ...(call.name === 'helm' ? helmPlugins(call) : []),
      ...startOptions('post-renderer', 'helm-binary')(call),
      ...(call.options.operands[0]?.text === 'plugin' &&
      /^(?:install|update)$/.test(call.options.operands[1]?.text ?? '')
        ? [refused(call, 'would install code')]
        : []),
      ...(call.options.has('enable-exec', 'enable-alpha-plugins')
        ? [refused(call, 'would run programs named in files')]
        : []),
    ],
    runs: [
      ['helm install x ./chart --post-renderer touch', 'touch'],
      ['helm template . --post-renderer=touch', 'touch'],
      'helm plugin install url',
      ['helm some-new-plugin', 'helm-some-new-plugin'],
      'kustomize build --enable-alpha-plugins --enable-exec .',
    ],
    harmless: [
      'helm install x ./chart -f v.yml',
      'helm list -A',
      'kustomize build .',
      'helm upgrade --install x . --set a=b',
    ],
  },
  {
    names: ['terraform', 'tofu', 'terragrunt', 'packer', 'pulumi', 'vagrant'],
    options: {
      singleDash: true,
      long: 'chdir= plugin-dir= terragrunt-tfpath= tf-path= c= command= from-module= var= var-file= auto-approve out= state= target= backend-config= exec-agent exec-kind=',
    },
    effects: (call) => [
      ...call.options
        .values('plugin-dir', 'terragrunt-tfpath', 'tf-path')
        .map((at) => refused(call, 'chooses programs that run', at)),
      ...writeOptions('out')(call),
      ...(call.name === 'vagrant' && call.options.operands[0]?.text === 'ssh'
        ? call.options.values('c', 'command').map((text): Effect => ({ does: 'shell', text }))
        : []),
      ...(call.name === 'terragrunt' && call.options.operands[0]?.text === 'exec'
        ? [{ does: 'start', argv: call.options.operands.slice(1) } as const]
        : []),
    ],
    runs: [
      'terraform init -plugin-dir=./x',
      'terragrunt plan --terragrunt-tfpath ./x',
      ["vagrant ssh -c 'touch x'", 'touch'],
      ['terragrunt exec -- touch x', 'touch'],
    ],
    harmless: [
      'terraform plan -out=p.plan',
      'terraform apply -auto-approve',
      'terraform -chdir=infra init',
      'vagrant up',
      'pulumi preview',
      'packer build x.json',
    ],
  },
];

/** Options of every subcommand that write files or name settings. */
function kubectlFiles(call: ProgramCall): Effect[] {
  const long = 'cache-dir= profile-output= output-directory= kuberc=';
  const options = parseOptions(call.args, { short: '', long });
  return [
    ...options.values('cache-dir', 'profile-output', 'output-directory').flatMap(writesBelow),
    ...options.values('kuberc').map((at) => refused(call, '--kuberc names a file with options', at)),
  ];
}

function kustomized(call: ProgramCall): Effect[] {
  return [
    ...writeOptions('o', 'output')(call),
    ...startOptions('helm-command')(call),
    ...call.args
      .filter(({ text }) => /^--enable-(?:exec|alpha-plugins)(?:=|$)/.test(text ?? ''))
      .map((at) => refused(call, 'kustomize would run plugins', at)),
  ];
}

const kubectlPlugins = plugins(
  `alpha annotate api-resources api-versions apply attach auth autoscale certificate cluster-info completion config cordon cp create
  debug delete describe diff drain edit events exec explain expose get help krew kustomize label logs options patch plugin
  port-forward proxy replace rollout run scale set taint top uncordon version wait`,
);

const helmPlugins = plugins(
  `completion create dependency dep dependencies del delete diff env fetch get help hist history inspect install lint list ls
  package plugin pull push registry repo rollback search show status template test un uninstall upgrade verify version`,
);

const dockerPlugins = plugins(
  `attach build builder buildx checkpoint commit compose config container context cp create debug diff events exec export help
  history image images import info init inspect kill load login logout logs manifest network node pause plugin port ps pull
  push rename restart rm rmi run save scan scout search secret service stack start stats stop swarm system tag top trust unpause
  update version volume wait`,
);

const runOptions = {
  short: 'a:c:de:h:itl:m:p:Pqu:v:w:',
  long: `add-host= annotation= attach= blkio-weight= cap-add= cap-drop= cgroup-parent= cgroupns= cidfile= cpu-period= cpu-quota= cpu-shares= cpus=
    cpuset-cpus= cpuset-mems= detach detach-keys= device= device-cgroup-rule= dns= dns-search= domainname= entrypoint= env= env-file= expose=
    gpus= group-add= health-cmd= health-interval= health-retries= health-timeout= hostname= init interactive ip= ip6= ipc= isolation= label=
    label-file= link= log-driver= log-opt= mac-address= memory= memory-reservation= memory-swap= mount= name= net= network= network-alias=
    no-healthcheck oom-kill-disable oom-score-adj= pid= pids-limit= platform= privileged publish= publish-all pull= quiet read-only restart= rm
    runtime= security-opt= shm-size= sig-proxy[=] stop-signal= stop-timeout= storage-opt= sysctl= tmpfs= tty ulimit= user= userns= uts= volume=
    volume-driver= volumes-from= workdir= replace pod= secret= systemd= arch= os= rootfs hooks-dir=`.replace(
    /\s+/g,
    ' ',
  ),
  stop: true,
};

function dockerEffects(call: ProgramCall): Effect[] {
  const settings = call.options
    .values('config', 'hooks-dir', 'conmon', 'runtime')
    .map((at) => refused(call, 'chooses settings or programs that run', at));
  const run: Sub = {
    options: runOptions,
    effects: (inner) => [...runEffects(inner), ...writeOptions('cidfile')(inner)],
  };
  const exec: Sub = {
    options: runOptions,
    effects: (inner) => [
      ...(inner.options.has('privileged') ? [refused(inner, '--privileged reaches the whole machine')] : []),
      ...startsInside(inner),
    ],
  };
  const saved: Sub = { options: { short: 'o:', long: 'output=' }, effects: writeOptions('o', 'output') };
  const commands: Record<string, Sub> = {
    'run create': run,
    service: { options: { stop: true }, effects: subcommands({ 'create update': run }) },
    build: built,
    'buildx builder': {
      options: { short: '', long: 'builder=', stop: true },
      effects: subcommands({ build: built }),
    },
    exec,
    cp: { options: { short: 'aLq', long: 'archive follow-link quiet' }, effects: copiedOut },
    'save export': saved,
    unshare: { options: { short: '', long: 'rootless-netns', stop: true }, effects: startsOperands },
    plugin: {
      effects: (inner) =>
        /^(?:install|enable|set)$/.test(inner.options.operands[0]?.text ?? '')
          ? [refused(inner, 'would install code')]
          : [],
    },
    compose: {
      options: {
        short: 'f:p:',
        long: 'file= project-name= project-directory= env-file= profile= ansi= progress= parallel=',
        stop: true,
      },
      effects: composeEffects,
    },
  };
  const nested: Sub = { options: { stop: true }, effects: subcommands(commands) };
  if (call.name.endsWith('-compose'))
    return [
      ...settings,
      ...composeEffects({
        ...call,
        options: parseOptions(call.args, { short: 'f:p:', long: 'file=', stop: true }),
      }),
    ];
  const remote = [...call.options.values('H', 'host', 'url'), ...call.args]
    .filter(({ text }) => /^(?:.*[=,])?ssh:\/\//.test(text ?? ''))
    .slice(0, 1)
    .map(
      (at): Effect => ({ does: 'start', argv: ['ssh', 'host', 'docker'].map((word) => knownArg(word, at)) }),
    );
  return [
    ...settings,
    ...remote,
    ...(call.name === 'docker' ? dockerPlugins(call) : []),
    ...subcommands({ ...commands, 'container image': nested })(call),
  ];
}

/** `docker build -o DIR` writes the files of the last stage. */
const built: Sub = {
  options: {
    short: 'f:t:o:qm:c:D',
    long: `output= iidfile= metadata-file= file= tag= build-arg= build-context= target= platform= cache-from= cache-to= secret= ssh= progress=
      label= network= add-host= builder= pull no-cache load push quiet rm force-rm squash compress`.replace(
      /\s+/g,
      ' ',
    ),
  },
  effects: (call) => [
    ...writeOptions('iidfile', 'metadata-file')(call),
    ...call.options.values('o', 'output').flatMap((at) => {
      const [, folder] = /(?:^|,)dest=([^,]*)/.exec(at.text ?? '') ?? [];
      const path = folder === undefined ? at : knownArg(folder, at);
      return path.text === '-' || (folder === undefined && /=/.test(at.text ?? '')) ? [] : writesBelow(path);
    }),
  ],
};

const composeExecOptions = {
  short: 'dTite:u:w:',
  long: 'detach no-tty no-TTY interactive tty privileged env= index= user= workdir=',
  stop: true,
};

/** A compose file read from stdin (`-f -`) may mount any host folder. */
function composeEffects(call: ProgramCall): Effect[] {
  const run: Sub = { options: runOptions, effects: runEffects };
  const files = call.options
    .values('f', 'file')
    .filter(
      ({ text, pieces: [first] }) =>
        text === '-' || text === '/dev/stdin' || (typeof first === 'object' && first.hole === 'process'),
    )
    .map((at) => refused(call, 'would use a compose file from a pipe, which may mount any folder', at));
  return [
    ...files,
    ...subcommands({ exec: { options: composeExecOptions, effects: startsInside }, run })(call),
  ];
}

/** The first process of a running container is not that of the machine, and ending it restarts the container. */
function startsInside(call: ProgramCall): Effect[] {
  return startsAfter(1)(call).map((effect) =>
    effect.does === 'start' ? { ...effect, argv: effect.argv.map(withoutInit) } : effect,
  );
}

/** Replaces the number of the first process after `kill` by that of another one. */
function withoutInit(word: Arg, at: number, argv: readonly Arg[]): Arg {
  const isTarget =
    word.text === '1' && wordText(argv[0]) === 'kill' && !/^-[sn]$/.test(wordText(argv[at - 1]));
  if (isTarget) return knownArg('2', word);
  return /^kill\s/.test(word.text ?? '') ? knownArg(killed(wordText(word)), word) : word;
}

function killed(text: string): string {
  return text.replace(/^(kill(?:\s+-\w{1,9}){0,3}\s+)1(?=\s*(?:$|[;&|]))/, (_, start) => `${start}2`);
}

function copiedOut({ options }: ProgramCall): Effect[] {
  const target = options.operands[1];
  return target === undefined || target.text === '-' || /^[^/.~]+:/.test(prefixOf(target))
    ? []
    : [{ does: 'write', path: target }];
}

function runEffects(call: ProgramCall): Effect[] {
  const { options } = call;
  const mounts = mountsOf(call);
  const reaching = mounts.filter(({ source, readOnly }) => isSensitive(source.text, call.home, readOnly));
  const host = options.given.filter(
    ({ name, value }) =>
      name === 'privileged' ||
      name === 'hooks-dir' ||
      name === 'rootfs' ||
      (/^(?:pid|userns|ipc|uts|cgroupns)$/.test(name) && value?.text === 'host') ||
      (name === 'cap-add' && /ALL|SYS_|DAC_|NET_ADMIN|MKNOD/i.test(value?.text ?? 'ALL')) ||
      (name === 'security-opt' && /unconfined|disable/.test(value?.text ?? '')) ||
      (name === 'device' && /\/dev\/(?:sd|nvme|vd|mem|kmsg|dm-|mapper)/.test(value?.text ?? '')),
  );
  return [
    ...reaching.map(({ at }) => refused(call, 'would give the container a part of this machine', at)),
    ...host.map(({ at }) => refused(call, 'would give the container rights over this machine', at)),
    ...insideDanger(
      call,
      mounts.filter(({ readOnly }) => !readOnly),
    ),
  ];
}

interface Mount {
  readonly source: Arg;
  readonly target: string;
  readonly readOnly: boolean;
  readonly at: Arg;
}

function mountsOf({ options }: ProgramCall): Mount[] {
  const volumes = options.values('v', 'volume').flatMap((at): Mount[] => {
    const [source, target, mode = ''] = (at.text ?? '').split(':');
    return source === undefined || target === undefined
      ? []
      : [{ source: knownArg(source, at), target, readOnly: /\bro\b/.test(mode), at }];
  });
  const binds = options.values('mount').flatMap((at): Mount[] => {
    const parts = new Map(
      (at.text ?? '')
        .split(',')
        .map((part) => [part.split('=')[0] ?? '', part.split('=').slice(1).join('=')] as const),
    );
    const source = parts.get('source') ?? parts.get('src');
    const target = parts.get('target') ?? parts.get('dst') ?? parts.get('destination');
    return source === undefined || target === undefined
      ? []
      : [{ source: knownArg(source, at), target, readOnly: parts.has('readonly') || parts.has('ro'), at }];
  });
  // A privileged container has the devices of the machine.
  const devices = options.given.flatMap(({ name, value, at }): Mount[] => {
    if (name === 'privileged') return [{ source: knownArg('/dev', at), target: '/dev', readOnly: false, at }];
    const [source, target = source] = name === 'device' ? (value?.text ?? '').split(':') : [];
    return source === undefined || target === undefined || source === ''
      ? []
      : [{ source: knownArg(source, at), target, readOnly: false, at }];
  });
  return [...volumes, ...binds, ...devices];
}

function isSensitive(path: string | undefined, home: string, readOnly: boolean): boolean {
  if (path === undefined) return false;
  const place = withoutTrailing(path, '/') || '/';
  if (!path.startsWith('/')) return false;
  if (/docker\.sock|containerd\.sock|podman\.sock|crio\.sock/.test(place) || place === '/') return true;
  if (readOnly) return false;
  return (
    place === home ||
    /^\/(?:etc|usr|bin|sbin|lib|lib64|boot|dev|proc|sys|var|root|home|run)$/.test(place) ||
    /^\/(?:etc|usr|boot|dev|proc|sys|var\/run|var\/lib)\//.test(place) ||
    /\/\.(?:ssh|gnupg|aws|kube|docker|bashrc|profile|gitconfig)(?:\/|$)/.test(place)
  );
}

/** Judges the container's program for danger, with mounted paths translated to host paths. */
function insideDanger(call: ProgramCall, mounts: readonly Mount[]): Effect[] {
  const [, ...words] = call.options.operands;
  const entry = call.options.last('entrypoint');
  const argv = [...(entry === undefined ? [] : [entry]), ...words];
  const [program, root, ...inRoot] = argv;
  if (program?.text === 'nsenter' && call.options.given.some(({ name }) => /^(?:pid|privileged)$/.test(name)))
    return [{ does: 'perhaps', text: asText(argv, call) }];
  if (mounts.length === 0 || argv.length === 0) return [];
  // In the container, `chroot /host rm -rf /` deletes the mounted folder of the host.
  if (
    program?.text === 'chroot' &&
    root?.text !== undefined &&
    mounts.some(({ target }) => target === root.text)
  )
    return [{ does: 'perhaps', text: asText(inRoot, call) }];
  const folder = call.options.last('w', 'workdir')?.text;
  const inFolder = folder === undefined ? '' : `cd ${quoteWord(outside(folder, mounts))} && `;
  const text = argv.map((word) => quoteWord(outside(word.text ?? 'unknown', mounts))).join(' ');
  return [{ does: 'perhaps', text: knownArg(inFolder + text, call.self) }];
}

/** The words of a program as one text of a shell. */
function asText(argv: readonly Arg[], { self }: ProgramCall): Arg {
  return knownArg(argv.map((word) => quoteWord(word.text ?? 'unknown')).join(' '), self);
}

/** Translates a container path to its host path; a path that is not mounted maps to a harmless placeholder. */
function outside(text: string, mounts: readonly Mount[]): string {
  return text.replace(/(^|[\s'"=;&|(])(\/[^\s'";&|)]*)/g, (_whole, before: string, path: string) => {
    const mount = mounts.find(
      ({ target }) => path === target || path.startsWith(`${withoutTrailing(target, '/')}/`),
    );
    if (mount === undefined) return `${before}/container/inside${path}`;
    return `${before}${mount.source.text ?? ''}${path.slice(withoutTrailing(mount.target, '/').length)}`.replace(
      /\/{2,}/g,
      '/',
    );
  });
}
