/** The name of the copy that `sed -i` and `perl -i` keep of a file. Each `*` of the suffix is the name of the file. */
export function copyName(file: string, suffix: string): string {
  const slash = file.lastIndexOf('/') + 1;
  const name = suffix.includes('*') ? suffix.replaceAll('*', file.slice(slash)) : file.slice(slash) + suffix;
  return name.includes('/') ? name : file.slice(0, slash) + name;
}
