import { limits } from '../words/limits.ts';
import { combineForms, type Forms, formsOf, isOperand, type Output } from '../words/output.ts';

/** Collects the output of `a && b || c`, where some commands may not run. */
export class AndOrOutput {
  private text: string;
  private more: boolean;
  private from: string | undefined;
  private operand: boolean;
  /** The possible output if the last command that ran succeeded, and if it failed; either both are known or neither. */
  private succeeded: Forms;
  private failed: Forms;

  constructor(first: Output) {
    this.text = first.text;
    this.more = first.more;
    this.from = first.from;
    this.operand = isOperand(first);
    this.succeeded = formsOf(first);
    this.failed = this.succeeded;
  }

  /** Adds the output of the next command. */
  add(operator: string, printed: Output): void {
    this.text += printed.text;
    this.more ||= printed.more || printed.text !== '';
    this.operand &&= isOperand(printed);
    if (printed.from !== undefined) this.from = (this.from ?? '') + printed.from;
    if (this.succeeded === undefined) return;
    const forms = formsOf(printed);
    const ran = combineForms(operator === '&&' ? this.succeeded : this.failed, forms);
    const either = unite(operator === '&&' ? this.failed : this.succeeded, ran);
    const known = either === undefined ? undefined : ran;
    this.succeeded = operator === '&&' ? known : either;
    this.failed = operator === '&&' ? either : known;
  }

  get output(): Output {
    const { text, more, from } = this;
    const operand = more && this.operand ? true : undefined;
    return { text, more, from, operand, forms: more ? unite(this.succeeded, this.failed) : undefined };
  }
}

function unite(one: Forms, other: Forms): Forms {
  if (one === other || one === undefined || other === undefined) return one && other;
  const all = [...one, ...other.filter((text) => !one.includes(text))];
  return all.length > limits.values ? undefined : all;
}
