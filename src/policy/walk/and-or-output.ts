import { limits } from '../words/limits.ts';
import { combineForms, type Forms, formsOf, type Output } from '../words/output.ts';

/** Puts together what the commands of `a && b || c` print, of which some may be left out. */
export class AndOrOutput {
  private text: string;
  private more: boolean;
  private from: string | undefined;
  /** What may be printed so far when the last command that ran went well, and when it did not; known both or not at all. */
  private well: Forms;
  private badly: Forms;

  constructor(first: Output) {
    this.text = first.text;
    this.more = first.more;
    this.from = first.from;
    this.well = formsOf(first);
    this.badly = this.well;
  }

  /** Takes in the next command. */
  add(operator: string, printed: Output): void {
    this.text += printed.text;
    this.more ||= printed.more || printed.text !== '';
    if (printed.from !== undefined) this.from = (this.from ?? '') + printed.from;
    if (this.well === undefined) return;
    const forms = formsOf(printed);
    const ran = combineForms(operator === '&&' ? this.well : this.badly, forms);
    const either = unite(operator === '&&' ? this.badly : this.well, ran);
    const known = either === undefined ? undefined : ran;
    this.well = operator === '&&' ? known : either;
    this.badly = operator === '&&' ? either : known;
  }

  get output(): Output {
    const { text, more, from } = this;
    return { text, more, from, forms: more ? unite(this.well, this.badly) : undefined };
  }
}

function unite(one: Forms, other: Forms): Forms {
  if (one === other || one === undefined || other === undefined) return one && other;
  const all = [...one, ...other.filter((text) => !one.includes(text))];
  return all.length > limits.values ? undefined : all;
}
