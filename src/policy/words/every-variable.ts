/** Stands for every variable in a set of exported names, as after `set -a`. */
export const everyVariable = '*';
