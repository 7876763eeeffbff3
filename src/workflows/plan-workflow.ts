import type { z } from 'zod';
import { inWords, type Problem, toProblems } from '../tools/receive.ts';
import { type PlannedStep, stepSchema, type Workflow, workflowSchema } from './schema.ts';

/** A workflow, or everything that is wrong with it. */
export type Planned =
  | { readonly workflow: Workflow; readonly problems?: undefined }
  | { readonly problems: readonly Problem[] };

type WrittenStep = z.output<typeof stepSchema>;

const knownKeys = [...Object.keys(workflowSchema.shape), ...Object.keys(stepSchema.shape)];

/** Understands a workflow as it is written: its words, then how its steps hang together. */
export function planWorkflow(raw: unknown): Planned {
  const parsed = workflowSchema.safeParse(raw, inWords);
  if (!parsed.success) return { problems: toProblems(parsed.error, knownKeys) };
  const { steps: written, ...rest } = parsed.data;
  const ids = written.map(({ id }, index) => id ?? `step-${index + 1}`);
  const steps = written.map((step, index) => toPlanned(step, index, ids));
  const problems = [
    ...written.flatMap((step, index) => checkStep(step, index, ids)),
    ...(findCycle(steps) ?? []),
  ];
  return problems.length > 0 ? { problems } : { workflow: { ...rest, steps } };
}

// Without needs a step waits for the one before it; what it takes from others it waits for in any case.
function toPlanned(step: WrittenStep, index: number, ids: readonly string[]): PlannedStep {
  const before = ids[index - 1];
  const order = step.needs ?? (before === undefined ? [] : [before]);
  const needs = [...new Set([...order, ...sourcesOf(step).map(({ step: id }) => id)])];
  return { ...step, id: ids[index] ?? '', needs };
}

function sourcesOf(step: WrittenStep): { readonly step: string; readonly path: readonly string[] }[] {
  const { input_from, env_from = {}, when } = step;
  return [
    ...(input_from ? [{ step: input_from.step, path: ['input_from'] }] : []),
    ...Object.entries(env_from).map(([name, from]) => ({ step: from.step, path: ['env_from', name] })),
    ...(typeof when === 'object' ? [{ step: when.step, path: ['when'] }] : []),
  ];
}

function checkStep(step: WrittenStep, index: number, ids: readonly string[]): Problem[] {
  const at = (path: readonly PropertyKey[], sentence: string) => ({
    path: ['steps', index, ...path],
    sentence,
  });
  const id = ids[index] ?? '';
  const named = [
    ...(step.needs ?? []).map((one, place) => ({ step: one, path: ['needs', place] })),
    ...sourcesOf(step),
  ];
  return [
    ...(ids.indexOf(id) < index ? [at(['id'], `there are two steps ${id}`)] : []),
    ...((step.command === undefined) === (step.tool === undefined)
      ? [at([], `step ${id} needs either command or tool`)]
      : []),
    ...(step.with && step.tool === undefined ? [at(['with'], 'with is the input of a tool')] : []),
    ...(step.tool === undefined
      ? []
      : refuseForTools(step).map((key) => at([key], `${key} is not for tools: say it in with`))),
    ...(step.input !== undefined && step.input_from ? [at(['input_from'], 'there is input already')] : []),
    ...named.flatMap(({ step: other, path }) => {
      if (!ids.includes(other)) return [at(path, `there is no step ${other}`)];
      return other === id ? [at(path, `step ${id} cannot wait for itself`)] : [];
    }),
  ];
}

function refuseForTools(step: WrittenStep): readonly (keyof WrittenStep)[] {
  const keys = ['cwd', 'env', 'env_from', 'input', 'input_from', 'timeout'] as const;
  return keys.filter((key) => step[key] !== undefined);
}

function findCycle(steps: readonly PlannedStep[]): Problem[] | undefined {
  const settled = new Set<string>();
  for (let before = -1; before < settled.size; ) {
    before = settled.size;
    for (const { id, needs } of steps) if (needs.every((one) => settled.has(one))) settled.add(id);
  }
  const index = steps.findIndex(
    ({ id, needs }) => !settled.has(id) && needs.every((one) => steps.some((step) => step.id === one)),
  );
  if (index < 0) return undefined;
  return [
    {
      path: ['steps', index],
      sentence: `step ${steps[index]?.id} waits for itself through the steps that it needs`,
    },
  ];
}
