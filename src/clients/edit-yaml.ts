// Edits one item of a list in a YAML text, found by its `name`: other items, comments and line endings stay.
import { isDeepStrictEqual } from 'node:util';
import { parseDocument } from 'yaml';
import { NacreError } from '../contract/failure.ts';
import { addItems, readValues, removeItems } from '../settings/edit-file.ts';
import { TextFault } from './text-edits.ts';

/** The item with this name in the list `key`; undefined if there is none. */
export function getYamlItem(text: string, key: string, name: string): object | undefined {
  refuseErrors(text);
  const list = readValues(text)[key] ?? [];
  if (!Array.isArray(list)) throw new TextFault(0, `${key} is not a list`);
  const found = list.filter((item) => isNamed(item, name));
  if (found.length > 1) throw new TextFault(0, `${key} has two items with the name ${name}`);
  return found[0];
}

/** Adds an item with this name to the list `key`, or sets these values in it; its other values stay. */
export function setYamlItem(text: string, key: string, name: string, values: object): string {
  const before = getYamlItem(text, key, name);
  const item = { name, ...before, ...values };
  if (isDeepStrictEqual(before, item)) return text;
  return edit(() => addItems(removeNamed(text, key, name), key, [item]));
}

/** Removes the item with this name from the list `key`. */
export function removeYamlItem(text: string, key: string, name: string): string {
  return getYamlItem(text, key, name) === undefined ? text : edit(() => removeNamed(text, key, name));
}

function removeNamed(text: string, key: string, name: string): string {
  return removeItems(text, key, (item) => isNamed(item, name));
}

function isNamed(item: unknown, name: string): boolean {
  return item !== null && typeof item === 'object' && 'name' in item && item.name === name;
}

function refuseErrors(text: string): void {
  const { errors, contents } = parseDocument(text, { prettyErrors: false });
  const [first] = errors;
  if (first !== undefined) throw new TextFault(first.pos[0], first.message);
  const value: unknown = contents?.toJSON() ?? {};
  if (typeof value !== 'object' || Array.isArray(value))
    throw new TextFault(0, 'the file is not a map of keys');
}

function edit(step: () => string): string {
  try {
    return step();
  } catch (cause) {
    if (!(cause instanceof NacreError)) throw cause;
    throw new TextFault(0, 'its YAML is written in a form that nacre does not edit');
  }
}
