import type { ProgramCall } from '../options/program-call.ts';
import { prefixOf } from '../words/arg.ts';
import { refuseOptions } from './effects.ts';
import { refused, stdinText, writeOptions } from './option-effects.ts';
import type { Effect, ProgramEntry } from './program.ts';

/** `java`, `kotlin`, `scala` and their build tools. */
export const javaPrograms: readonly ProgramEntry[] = [
  {
    names: ['gradle', 'gradlew', 'mvn', 'mvnw', 'mvnd', 'mvnDebug', 'ant', 'sbt'],
    options: {
      short: 'I:b:c:f:s:g:p:l:qXxoUBeDP',
      long: 'init-script= build-file= settings-file= file= settings= project-dir= lib= logger= listener= include-build= gradle-user-home= version help offline',
    },
    effects: javaBuild,
    runs: [
      'gradle -I ./x.gradle build',
      'gradle --init-script=x build',
      'mvn exec:exec -Dexec.executable=touch',
      'mvn org.codehaus.mojo:exec-maven-plugin:3.1.0:exec -Dexec.executable=touch',
      'ant -lib ./x.jar -listener Evil',
      "sbt '! touch x'",
      'mvn -Dmaven.ext.class.path=./x.jar test',
      'sbt \'eval "touch x".!\'',
      'gradle -g ./x build',
      'mvn antrun:run',
      'mvn -Djvm=./x test',
      'mvn test -DargLine=-javaagent:x.jar',
    ],
    harmless: [
      'gradle build -x test',
      'mvn -q test -DskipITs',
      'mvn clean install -DskipTests',
      'ant -f build.xml',
      'sbt test',
      'gradle --version',
      'mvn exec:java -Dexec.mainClass=A',
      'mvn -f app/pom.xml package',
    ],
  },
  {
    names: ['javac', 'java', 'jshell', 'kotlinc', 'kotlin', 'scala', 'scalac', 'groovyc'],
    options: {
      singleDash: true,
      long: 'cp= classpath= class-path= d= processor= processorpath= agentlib agentpath javaagent jar= version help p= module-path= e= m= module= source= release= plugin=',
    },
    effects: javaEffects,
    runs: [
      'java -javaagent:./x.jar -jar a.jar',
      'java -agentpath:./x.so A',
      'java -agentlib:x A',
      "java '-XX:OnOutOfMemoryError=touch x' A",
      "java -XX:OnError='touch x' A",
      'javac -processor Evil -processorpath x A.java',
      'javac -Xplugin:evil A.java',
      "scala -e 'import sys.process._'",
      'jshell',
      'jshell <<< \'Runtime.getRuntime().exec("touch x")\'',
      'java @args A',
      'javac -J-javaagent:x.jar A.java',
    ],
    harmless: [
      'java -jar app.jar',
      'java -Xmx1g -cp lib A',
      'javac -d out A.java',
      'java -version',
      'kotlinc a.kt -d a.jar',
      'java -Dfoo=bar -jar a.jar --x',
      "jshell <<< 'System.out.println(1)'",
    ],
  },
];

function javaBuild(call: ProgramCall): Effect[] {
  const words = call.args.filter(
    (arg) =>
      /^(?:-Dexec\.(?:executable|args)|-Dmaven\.ext\.class\.path|-Dorg\.gradle\.(?:jvmargs|java\.home)|-D(?:jvm|maven\.compiler\.executable)=|-DargLine=.*(?:-javaagent|-agent|-XX:)|-D\w*Url=.*ext::|-listener$|-logger$|-lib$)/.test(
        arg.text ?? '',
      ) ||
      (/^mvn/.test(call.name) &&
        /(?:^|:)(?:antrun|groovy|gmaven\w*|scripting|jshell|exec-maven)(?:-[\w-]+)?:/.test(arg.text ?? '')) ||
      /(?:^|:)exec(?:-maven-plugin:[^:]*)?:exec$|^exec:exec/.test(arg.text ?? '') ||
      (call.name === 'sbt' && /[!`]|\beval\b|^set\s|^;/.test(arg.text ?? '')),
  );
  return [
    ...words.map((at) => refused(call, 'would run a program or load code', at)),
    ...(/^gradle/.test(call.name)
      ? refuseOptions({
          I: 'runs a script',
          'init-script': 'runs a script',
          g: 'reads scripts from another folder',
          'gradle-user-home': 'reads scripts from another folder',
          'include-build': 'runs another build',
        })(call)
      : []),
  ];
}

function javaEffects(call: ProgramCall): Effect[] {
  const { args, name } = call;
  if (args.some((arg) => /^--?(?:version|help)$/.test(arg.text ?? ''))) return [];
  const end =
    name === 'java'
      ? args.findIndex(
          (arg, index) =>
            !/^[-@]/.test(prefixOf(arg)) &&
            !/^-(?:cp|classpath|-class-path|p|-module-path|jar)$/.test(args[index - 1]?.text ?? ''),
        )
      : -1;
  const own = end < 0 ? args : args.slice(0, end);
  const loads = own.filter((arg) =>
    /^-(?:javaagent:|agentpath:|agentlib:(?!jdwp)|XX:(?:\+?On|Flags=|VMOptionsFile=)|processor|processorpath|-processor-path|Xplugin|J-(?:javaagent|agent|XX:On)|Xbootclasspath|-patch-module)|^@/.test(
      prefixOf(arg),
    ),
  );
  const inline = /^(?:scala|kotlin|kotlinc)$/.test(name)
    ? own.filter((_arg, index) => /^-(?:e|script|howtorun)$/.test(own[index - 1]?.text ?? ''))
    : [];
  const typed = name === 'jshell' ? stdinText(call) : '';
  const runsCode =
    name === 'jshell' &&
    call.options.operands.length === 0 &&
    (call.stdin === 'none' ? false : call.stdin.more);
  return [
    ...[...loads, ...inline].map((at) => refused(call, 'would load code or run a program', at)),
    ...(/\b(?:exec|ProcessBuilder|Runtime|load|loadLibrary|forName|invoke)\b/.test(typed) || runsCode
      ? [refused(call, 'would run code')]
      : []),
    ...(name === 'java' ? [] : writeOptions('d')(call)),
  ];
}
