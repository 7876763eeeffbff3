import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument, type YAMLError } from 'yaml';
import { NacreError } from '../contract/failure.ts';
import { planWorkflow } from './plan-workflow.ts';
import type { Workflow } from './schema.ts';

/** Reads a workflow from YAML; throws one error that lists every problem with its line and column. */
export function readWorkflow(text: string, path: string): Workflow {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, prettyErrors: false });
  const at = (offset: number) => {
    const { line, col } = lineCounter.linePos(offset);
    return `${path}:${line}:${col}`;
  };
  // What YAML only warns of is a tag that nobody knows, and its value another than was meant.
  const faults = [...document.errors, ...document.warnings].map(
    (fault) => `${at(fault.pos[0])}: ${toWords(fault)}`,
  );
  if (faults.length > 0) throw invalid(faults);
  const planned = planWorkflow(toValue(document, at));
  if (!planned.problems) return planned.workflow;
  throw invalid(
    planned.problems.map(({ path: keys, sentence }) => `${at(offsetOf(document, keys))}: ${sentence}`),
  );
}

// Some of its words are for programs that use its library.
function toWords({ code, message }: YAMLError): string {
  if (code === 'MULTIPLE_DOCS') return 'there is more than one document in the file';
  return message.includes('call stack') ? 'it is nested too deeply' : message;
}

/** Takes a workflow from a program; throws one error that lists every problem with its place. */
export function takeWorkflow(raw: unknown): Workflow {
  const planned = planWorkflow(raw);
  if (!planned.problems) return planned.workflow;
  throw invalid(planned.problems.map(({ path, sentence }) => `${path.map(String).join('.')}: ${sentence}`));
}

function toValue(document: Document, at: (offset: number) => string): unknown {
  try {
    return document.toJS() ?? {};
  } catch (error) {
    throw invalid([`${at(0)}: ${(error as Error).message}`]);
  }
}

// Where the value stands, or its key, or what would hold it.
function offsetOf(document: Document, path: readonly PropertyKey[]): number {
  for (let length = path.length; length >= 0; length -= 1) {
    const keys = path.slice(0, length);
    const holder = document.getIn(keys.slice(0, -1), true);
    const pair = isMap(holder)
      ? holder.items.find(({ key }) => isScalar(key) && key.value === keys.at(-1))
      : undefined;
    const found = pair?.key ?? document.getIn(keys, true);
    if (isNode(found) && found.range) return found.range[0];
  }
  return 0;
}

function invalid(problems: readonly string[]): NacreError {
  const amount = problems.length === 1 ? 'is wrong' : `has ${problems.length} problems`;
  return new NacreError('invalid_request', `The workflow ${amount}:\n${problems.join('\n')}`, {
    hint: 'Correct what is named; nothing was run.',
    details: { problems },
  });
}
