// What a shell is told comes with its length before it: bash takes just that at one go, where up to a NUL it would read byte
// by byte, and what follows stays for others. It counts characters, which depend on the locale: the text is ASCII.
const lengthDigits = 9;

/** A text of ASCII with its length before it. */
export function toSized(text: string): string {
  return `${String(text.length).padStart(lengthDigits, '0')}${text}`;
}

/** A step of bash that reads such a text into a variable; `read` is how the builtin is called there. */
export function readSized({ read, variable }: { readonly read: string; readonly variable: string }): string {
  const take = (count: string) => `IFS= ${read} -r -N ${count} ${variable}`;
  return `${take(String(lengthDigits))} && ${take(`"$${variable}"`)}`;
}
